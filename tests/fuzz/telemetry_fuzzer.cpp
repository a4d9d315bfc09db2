#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/monitor/run_picture.hpp"
#include "core/monitor/telemetry_message.hpp"
#include "fuzz_input.hpp"

/// The telemetry that ranks send to rank 0. The first byte selects whether the rest is a received message, or the
/// counts of a rank, in steps of 16 bytes.

namespace {

using namespace eventloom;

using Bytes = std::vector<std::byte>;

struct Step {
  std::uint8_t what = 0;
  std::uint8_t where = 0;
  std::uint16_t number = 0;
  std::uint32_t small = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(Step) == 16);

void add_event(RankRecord& record, const Step& step) {
  LatestEvent event;
  event.event = {step.value, step.small, step.number, step.where, step.small, step.where, 0};
  for (std::uint32_t i = 0; i < step.where; ++i) event.hits.push_back({step.value, i, step.number});
  record.events.push_back(std::move(event));
}

void take_step(RankRecord& record, const Step& step) {
  const auto metric = static_cast<Metric>(step.number % kMetrics);
  const auto value = step.value;
  switch (step.what % 9) {
    case 0: record.counters[metric] = value; return;
    case 1: record.of_sources[step.where].keep({metric}); return;
    case 2: record.of_sources[step.where][metric] = value; return;
    case 3: {
      const auto state = static_cast<SourceState>(step.number % kSourceStates);
      record.sources[step.where] = {step.where, state, value, step.small};
      return;
    }
    case 4: record.builders[step.where] = {step.where, 0, value, step.small, value, step.number}; return;
    case 5: record.writers[step.where] = {step.where, 0, value, step.small, value}; return;
    case 6: record.links[step.where] = {step.where, step.number, step.small, 0, value}; return;
    case 7: record.histograms[step.where % kHistograms][step.number % LogHistogram::kBins] = value; return;
    default: add_event(record, step);
  }
}

/// All of a record except which rows without counts it has.
Bytes all_of(const RankRecord& record) { return encode_telemetry(record, {}); }

/// A rank that sends its record in two messages is understood.
void check_changes(std::span<const std::byte> bytes) {
  RankRecord now;
  RankRecord sent;
  RankRecord heard;
  const std::size_t steps = bytes.size() / sizeof(Step);
  for (std::size_t i = 0; i < steps; ++i) {
    Step step;
    std::memcpy(&step, bytes.data() + i * sizeof step, sizeof step);
    take_step(now, step);
    if (i != steps / 2) continue;
    apply_telemetry(encode_telemetry(now, sent), heard);
    fuzz::require(all_of(heard) == all_of(now), "the record received is the one sent");
    now.events.clear();
    sent = now;
  }
  apply_telemetry(encode_telemetry(now, sent), heard);
  fuzz::require(all_of(heard) == all_of(now), "changes received are those sent");
}

RankRecord known_record() {
  RankRecord record;
  record.of_sources[1][Metric::dead_time_ns] = 5;
  record.sources[1] = {1, SourceState::live, 10, 20};
  record.events.push_back({{1000, 20, 1, 0, 3, 1, 0}, {{0, 5, 3}}});
  return record;
}

void hear(std::span<const std::byte> message) {
  auto record = known_record();
  const auto before = all_of(record);
  try {
    apply_telemetry(message, record);
  } catch (const std::runtime_error&) {
    fuzz::require(all_of(record) == before, "a message that is refused changes nothing");
    return;
  }
  RankRecord again;
  apply_telemetry(all_of(record), again);
  fuzz::require(all_of(again) == all_of(record), "a record received can be sent");
  RunPicture picture(2);
  for (int i = 0; i < 3; ++i) picture.take(1, message, {});
  fuzz::require(picture.events().size() <= RunPicture::kMostEvents, "few events are kept");
  (void)picture.totals();
  (void)picture.of_sources();
  const double fill = picture.ring_fill();
  fuzz::require(fill >= 0, "the fill of rings is not negative");
  if (const auto share = picture.share_sent())
    fuzz::require(*share >= 0 && *share <= 1, "a share lies between 0 and 1");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy of exactly this size: reads beyond it are detected.
  const std::vector<std::uint8_t> copy(data + 1, data + size);
  const auto bytes = fuzz::bytes_of(copy.data(), copy.size());
  if (data[0] % 2 == 0) {
    hear(bytes);
  } else {
    check_changes(bytes);
  }
  return 0;
}
