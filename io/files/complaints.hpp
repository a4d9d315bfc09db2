#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eventloom {

/// Kinds of errors and oddities in list-mode data.
enum class Defect : std::uint8_t { damage, number, tdc, remark, era };

/// Logs the defects of one input: the first ten of each kind, and the totals at the end. A new era is a warning, not an
/// error.
class Complaints {
 public:
  explicit Complaints(std::string path) : path_(std::move(path)) {}

  /// `offset`: bytes from the start of the file. `text`: a function without arguments, called only if its text is
  /// shown.
  template <class Text>
  void say(Defect kind, std::uint64_t offset, Text&& text) {
    const auto n = ++counts_[static_cast<std::size_t>(kind)];
    if (n <= kShown) show(kind, "offset " + std::to_string(offset) + ": " + text(), n == kShown);
  }
  /// Reports a defect that has no offset.
  template <class Text>
  void say(Defect kind, Text&& text) {
    const auto n = ++counts_[static_cast<std::size_t>(kind)];
    if (n <= kShown) show(kind, text(), n == kShown);
  }
  /// Reports the total of each kind of which some defects were not shown. Call it at the end of the file.
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
