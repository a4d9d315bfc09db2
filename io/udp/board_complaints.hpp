#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace eventloom {

/// Kinds of defects in a board's data.
enum class BoardDefect : std::uint8_t { loss, corrupt, late, out_of_step, contradiction, restart };

/// Reports the first ten defects of each kind in one board's data to standard error.
class BoardComplaints {
 public:
  explicit BoardComplaints(std::string name) : name_(std::move(name)) {}

  /// `text`: a function without arguments, called only if its text is shown.
  template <class Text>
  void say(BoardDefect kind, Text&& text) {
    const auto n = ++counts_[static_cast<std::size_t>(kind)];
    if (n <= kShown) show(text(), n == kShown);
  }

 private:
  static constexpr std::uint64_t kShown = 10;

  void show(const std::string& text, bool last) const;

  std::string name_;
  std::array<std::uint64_t, 6> counts_{};
};

}  // namespace eventloom
