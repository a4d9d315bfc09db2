#include "app/tools/bench/far_end.hpp"

#include <stdexcept>
#include <utility>

#include "core/definitions/definitions.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

constexpr TimeBase kBase{};
constexpr std::uint32_t kHitsOfEvent = 8;

SliceBuilderSettings building_settings() {
  SliceBuilderSettings settings;
  settings.geometry = {.base = kBase, .epochs_per_slice = 1, .overlap = Tick(kBase.epoch_ticks), .reach = 0};
  settings.events = {{parse_event_definition("gap:25,4", kBase.tick_ps), Tick(kBase.epoch_ticks)}};
  settings.payload.resize(1);
  return settings;
}

}  // namespace

std::vector<std::byte> small_epoch_buffer() {
  std::vector<std::byte> bytes;
  EpochBufferEncoder encoder(0, kBase.epoch_ticks, 0, {});
  for (std::uint32_t hit = 0; hit < kHitsOfEvent; ++hit) encoder.add(Tick(100 + 5 * hit), hit, {});
  encoder.close(bytes);
  return bytes;
}

BuildingEnd::BuildingEnd() : assembler_(1), builder_(building_settings()) {}

void BuildingEnd::take(std::span<const std::byte> message) {
  ChunkHeader header;
  header.slice = next_.value;
  header.total_bytes = message.size();
  header.bytes = static_cast<std::uint32_t>(message.size());
  header.has_more = 1;
  assembler_.place(header, message);
  auto slice = assembler_.take(next_);
  ++next_.value;
  const SourceSlice source{{slice->part(0).buffers()}, {}};
  builder_.build({0}, std::span(&source, 1), built_, problems_);
  assembler_.recycle(std::move(slice));
  if (built_.front().events.size() != 1) throw std::runtime_error("bench latency: the event was not built");
}

}  // namespace eventloom
