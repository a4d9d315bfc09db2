#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eventloom {

/// Problems of an inspected input. Beyond a limit they are only counted, so that damage cannot make memory grow.
class ProblemList {
 public:
  /// `text`: a function without arguments, called only if the problem is listed.
  template <class Text>
  void add(Text&& text) {
    if (++n_ <= kListed) list_.push_back(text());
  }
  [[nodiscard]] bool any() const { return n_ != 0; }
  /// The listed problems; if there are more, the last line states how many.
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
