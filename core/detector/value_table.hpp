#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"
#include "formats/payload_kind.hpp"

namespace eventloom {

/// The values of hits: gain x (first number of the payload) + zero, with the gain and zero of the channel. The gain is
/// 1 and the zero 0 where the map states none, so that the value is the number itself.
class ValueTable {
 public:
  ValueTable() = default;

  /// `kinds`: of the first payload word, indexed by source; u32 for sources beyond the last.
  explicit ValueTable(const Detector& detector, std::vector<PayloadKind> kinds = {})
      : table_(detector, [](const ChannelInfo& info) { return info.calibration; }), kinds_(std::move(kinds)) {
    sources_ = table_.of_sources();
  }
  ValueTable(const ValueTable&) = delete;  // its sources refer to its table
  ValueTable& operator=(const ValueTable&) = delete;
  ValueTable(ValueTable&&) = default;
  ValueTable& operator=(ValueTable&&) = default;

  /// NaN without payload.
  [[nodiscard]] double operator()(std::uint16_t source, std::uint32_t channel,
                                  std::span<const std::uint32_t> payload) const {
    const double number = payload_number(kinds_, source, payload);
    if (source >= sources_.size()) return number;
    const auto& [gain, zero] = sources_[source][channel];
    return gain * number + zero;
  }

 private:
  ChannelTable<ValueScale> table_;
  std::vector<ChannelTable<ValueScale>::OfSource> sources_;
  std::vector<PayloadKind> kinds_;
};

}  // namespace eventloom
