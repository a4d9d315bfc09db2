#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/runtime/message_limit.hpp"

namespace eventloom {

/// What can be wrong with list-mode data, or unusual. From `loss` on: of a board's data.
enum class Defect : std::uint8_t { damage, number, tdc, remark, era, loss, late, out_of_step, contradiction, restart };

/// Reports the defects of one input to standard error: the first ten of each kind, and the totals at the end. A new era
/// is a warning, not an error.
class Complaints {
 public:
  explicit Complaints(std::string path) : path_(std::move(path)) {}

  /// `offset`: bytes in the file. `text`: a function without arguments, called only when its text is shown.
  template <class Text>
  void say(Defect kind, std::uint64_t offset, Text&& text) {
    say(kind, [&] { return "offset " + std::to_string(offset) + ": " + text(); });
  }
  /// For a defect that has no offset.
  template <class Text>
  void say(Defect kind, Text&& text) {
    if (limits_[static_cast<std::size_t>(kind)].admit()) show(kind, text());
  }
  /// At the end of the file: reports how many were suppressed.
  void sum_up();

 private:
  static constexpr std::array<std::string_view, 10> kNames = {"damaged places",          "events with a wrong number",
                                                              "defects in data of TDCs", "unusual events",
                                                              "eras of event numbers",   "losses",
                                                              "late epoch buffers",      "epoch buffers out of step",
                                                              "contradictions",          "restarts"};

  void show(Defect kind, const std::string& text) const;

  std::string path_;
  std::array<MessageLimit, kNames.size()> limits_{};
};

}  // namespace eventloom
