#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eventloom {

/// What can be wrong with list-mode data, or unusual.
enum class Defect : std::uint8_t { damage, number, tdc, remark, era };

/// Reports the defects of one input to standard error: of each kind the first ten, and at the end how many there
/// were. A new era is no error, but a warning.
class Complaints {
 public:
  explicit Complaints(std::string path) : path_(std::move(path)) {}

  /// `offset`: bytes in the file. `text` is put together only when it will be shown: a function without arguments.
  template <class Text>
  void say(Defect kind, std::uint64_t offset, Text&& text) {
    const auto n = ++counts_[static_cast<std::size_t>(kind)];
    if (n <= kShown) show(kind, "offset " + std::to_string(offset) + ": " + text(), n == kShown);
  }
  /// Of what has no place in bytes.
  template <class Text>
  void say(Defect kind, Text&& text) {
    const auto n = ++counts_[static_cast<std::size_t>(kind)];
    if (n <= kShown) show(kind, text(), n == kShown);
  }
  /// The end of the file: how many were not shown.
  void sum_up();

 private:
  static constexpr std::uint64_t kShown = 10;
  static constexpr std::array<std::string_view, 5> kNames = {"damaged places", "events with a wrong number",
                                                             "defects in data of TDCs", "unusual events",
                                                             "eras of event numbers"};

  void show(Defect kind, const std::string& text, bool last) const;

  std::string path_;
  std::array<std::uint64_t, kNames.size()> counts_{};
};

}  // namespace eventloom
