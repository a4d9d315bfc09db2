#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/runtime/message_limit.hpp"

namespace eventloom {

/// Kinds of errors and oddities in list-mode data; from `loss` on, in the data of boards.
enum class Defect : std::uint8_t { damage, number, tdc, remark, era, loss, late, out_of_step, contradiction, restart };

/// Logs the defects of one input: the first ten of each kind, and the totals at the end. A new era is a warning, not an
/// error.
class DefectLog {
 public:
  explicit DefectLog(std::string path) : path_(std::move(path)) {}

  /// `offset`: bytes from the start of the file. `text`: a function without arguments, called only if its text is
  /// shown.
  template <class Text>
  void say(Defect kind, std::uint64_t offset, Text&& text) {
    say(kind, [&] { return "offset " + std::to_string(offset) + ": " + text(); });
  }
  /// Reports a defect that has no offset.
  template <class Text>
  void say(Defect kind, Text&& text) {
    if (limits_[static_cast<std::size_t>(kind)].admit()) show(kind, text());
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Reports the total of each kind of which some defects were not shown. Call it at the end of the file.
  void sum_up();

 private:
  static constexpr std::array<std::string_view, 10> kNames = {"damaged places",          "events with a wrong number",
                                                              "defects in data of TDCs", "unusual events",
                                                              "eras of event numbers",   "losses",
                                                              "late epoch buffers",      "jumps of the clock",
                                                              "contradictions",          "restarts"};

  void show(Defect kind, const std::string& text) const;

  std::string path_;
  std::array<MessageLimit, kNames.size()> limits_{};
};

}  // namespace eventloom
