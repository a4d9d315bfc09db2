#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eventloom {

/// Problems of an inspected input. Beyond a limit problems are only counted: memory does not grow with the damage.
class ProblemList {
 public:
  /// `text`: a function without arguments, called only when the problem is listed.
  template <class Text>
  void add(Text&& text) {
    if (++n_ <= kListed) list_.push_back(text());
  }
  [[nodiscard]] bool any() const { return n_ != 0; }
  /// The last line says how many more there are.
  [[nodiscard]] std::vector<std::string> lines() const {
    auto lines = list_;
    if (n_ > kListed) lines.push_back("and " + std::to_string(n_ - kListed) + " more");
    return lines;
  }

 private:
  static constexpr std::uint64_t kListed = 1000;

  std::uint64_t n_ = 0;
  std::vector<std::string> list_;
};

}  // namespace eventloom
