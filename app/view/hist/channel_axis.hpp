#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/command/safe_text.hpp"
#include "app/document/detector_names.hpp"
#include "formats/channel_text.hpp"
#include "io/run_format/histogram_record.hpp"

/// Axes of histograms that show channels.
namespace eventloom {

inline bool is_channel_axis(const HistogramAxisRecord& axis) { return axis.quantity == "channel"; }

/// The channel that is the only whole number in a bin; std::nullopt if there are several, or none.
inline std::optional<std::uint32_t> only_channel(const HistogramAxisRecord& axis, std::size_t bin) {
  const double first = std::ceil(axis.edges[bin]);
  const bool one = first < axis.edges[bin + 1] && first + 1 >= axis.edges[bin + 1];
  if (!one || first < 0 || first > 0xfffffff) return std::nullopt;
  return static_cast<std::uint32_t>(first);
}

/// The name of a channel, safe for a terminal, or else its number.
inline std::string channel_label(std::uint32_t channel, const ChannelNames& names) {
  constexpr std::size_t kColumns = 24;
  const auto found = names.find(channel);
  return found == names.end() ? channel_text(channel) : end_of(for_terminal(found->second), kColumns);
}

}  // namespace eventloom
