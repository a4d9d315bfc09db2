#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace eventloom {

/// What can be wrong with what a board sends.
enum class BoardDefect : std::uint8_t { loss, corrupt, late, out_of_step, contradiction, restart };

/// Reports what is wrong with one board to standard error: of each kind the first ten times.
class BoardComplaints {
 public:
  explicit BoardComplaints(std::string name) : name_(std::move(name)) {}

  /// `text` is put together only when it will be shown: a function without arguments.
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
