#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The unit of the times of channels from `first` to `last`.
struct ChannelUnit {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::string unit;
};

/// The key `unit` where it gives units by channels: unit=0x20000-0x2ffff:10ns,0x30000-0x3ffff:8ns. Empty if it gives
/// one unit, or is absent. Throws UserError when it is invalid, ranges overlap, or times are said to turn, too.
std::vector<ChannelUnit> units_by_channel(const SourceUri& uri);

/// Converters of times for channels with units of their own, or one for all.
template <class Clock>
class ClocksByChannel {
 public:
  /// `make` returns the converter for a URI whose key `unit` is one unit.
  template <class Make>
  ClocksByChannel(const SourceUri& uri, Make make) : units_(units_by_channel(uri)) {
    for (const auto& unit : units_) clocks_.push_back(make(uri.with("unit", unit.unit)));
    if (units_.empty()) clocks_.push_back(make(uri));
  }

  /// Whether all channels have one unit.
  [[nodiscard]] bool is_one() const { return units_.empty(); }
  [[nodiscard]] Clock& first() { return clocks_.front(); }
  [[nodiscard]] const Clock& first() const { return clocks_.front(); }
  /// Null if the channel has no unit. Valid as long as this object.
  [[nodiscard]] Clock* of(std::uint32_t channel) {
    if (is_one()) return &clocks_.front();
    const auto has = [=](const ChannelUnit& unit) { return channel >= unit.first && channel <= unit.last; };
    const auto found = std::ranges::find_if(units_, has);
    return found == units_.end() ? nullptr : &clocks_[static_cast<std::size_t>(found - units_.begin())];
  }

 private:
  std::vector<ChannelUnit> units_;
  std::vector<Clock> clocks_;  ///< one for each of units_, or a single one
};

}  // namespace eventloom
