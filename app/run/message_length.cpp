#include "app/run/message_length.hpp"

#include <algorithm>

#include "core/engine/ring_rule.hpp"

namespace eventloom {

double epoch_bytes(Source& source, std::uint64_t passes) {
  const auto first = source.first_epoch();
  const auto end = source.end_epoch();
  if (!first || !end || *end <= *first) return 0;
  return static_cast<double>(source.input().bytes) * static_cast<double>(passes) / static_cast<double>(*end - *first);
}

std::optional<std::uint64_t> message_bytes(const std::vector<SourceInfo>& streams, const SliceGeometry& geometry) {
  double fullest = 0;
  for (const auto& stream : streams) {
    const bool empty = !stream.live && !stream.first_epoch;
    if (stream.epoch_bytes == 0 && !empty) return std::nullopt;
    fullest = std::max(fullest, stream.epoch_bytes);
  }
  if (fullest == 0) return std::nullopt;
  return usual_longest(fullest * static_cast<double>(Epoch(geometry.epochs_per_slice) + 2 * geometry.margin_epochs()));
}

}  // namespace eventloom
