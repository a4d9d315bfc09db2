/// builder_cost SOURCES DEFINITION ORDER TIMES: work for callgrind to count.
///
/// Builds the same hits, dealt to SOURCES sources, by DEFINITION (as in `--define`), in slices of TIMES the
/// usual length; ORDER of the hits inside an epoch: "ordered" in time or "shuffled". All slices once to warm
/// up, then once more inside `counted_builds`, the function for `--toggle-collect`. Prints what that built:
/// hits, events and hits in events.
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/markers.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

constexpr TimeBase kBase{1000, 10'000};
constexpr Tick kOverlap = 1000;
constexpr std::uint64_t kSlices = 3;
constexpr std::uint64_t kSliceEpochs = 100;
constexpr std::uint32_t kEpochsPerBuffer = 10;
/// On average an epoch holds 160 hits: half of them in events, the others noise.
constexpr std::uint64_t kEventsPerEpoch = 10;
constexpr std::uint64_t kEventHits = 8;
constexpr Tick kEventTicks = 20;
constexpr std::uint64_t kNoisePerEpoch = 80;

/// All hits of the run in ascending time, the same for any number of sources.
std::vector<RefHit> make_hits(std::uint64_t times) {
  std::mt19937_64 random(1);
  const std::uint64_t epochs = kSlices * kSliceEpochs * times;
  const Tick end = Tick(epochs * kBase.epoch_ticks) - kEventTicks;
  const auto random_before = [&](Tick limit) { return Tick(random() % limit.value); };
  std::vector<Tick> ticks;
  for (std::uint64_t i = 0; i < epochs * kNoisePerEpoch; ++i) ticks.push_back(random_before(end));
  for (std::uint64_t i = 0; i < epochs * kEventsPerEpoch; ++i) {
    const Tick start = random_before(end);
    for (std::uint64_t k = 0; k < kEventHits; ++k) ticks.push_back(start + random_before(kEventTicks));
  }
  std::ranges::sort(ticks);
  std::vector<RefHit> hits;
  for (const Tick tick : ticks) hits.push_back({tick, static_cast<std::uint32_t>(random()) & kValueMask, {}, 0});
  return hits;
}

void shuffle_epochs(std::vector<RefHit>& hits) {
  const auto epoch_of_hit = [](const RefHit& hit) { return epoch_of(hit.time, kBase.epoch_ticks); };
  std::ranges::shuffle(hits, std::mt19937_64(3));
  std::ranges::stable_sort(hits, {}, epoch_of_hit);
}

std::vector<std::vector<RefHit>> deal(const std::vector<RefHit>& hits, std::size_t sources) {
  std::mt19937_64 random(2);
  std::vector<std::vector<RefHit>> out(sources);
  for (const auto& hit : hits) out[random() % sources].push_back(hit);
  return out;
}

/// A detector with two groups, each of half of the channels.
DetectorPtr two_groups(std::size_t sources) {
  constexpr std::uint32_t kHalf = (kValueMask + 1) / 2;
  auto detector = std::make_shared<Detector>(sources);
  detector->add_group("A");
  detector->add_group("B");
  for (std::size_t s = 0; s < sources; ++s) {
    const auto source = static_cast<std::uint16_t>(s);
    detector->change({source, 0, kHalf - 1}, [](ChannelInfo& info) { info.groups = 1; });
    detector->change({source, kHalf, kValueMask}, [](ChannelInfo& info) { info.groups = 2; });
  }
  return detector;
}

/// The data of all slices that a builder receives.
struct Workload {
  SliceBuilderSettings settings;
  std::array<std::vector<std::vector<std::byte>>, kSlices> memory;  ///< by slice and source
  std::array<std::vector<SourceSlice>, kSlices> slices;
};

std::vector<std::byte> sent_bytes(const Stream& stream, EpochRange sent) {
  std::vector<std::byte> out;
  for (const auto& buffer : stream) {
    if (buffer.header.epochs().overlaps(sent)) out.insert(out.end(), buffer.bytes.begin(), buffer.bytes.end());
  }
  return out;
}

Workload make_workload(std::size_t sources, const EventDefinitionPtr& definition, bool ordered, std::uint64_t times) {
  auto all = make_hits(times);
  if (!ordered) shuffle_epochs(all);
  Workload out;
  out.settings = {
      {kBase, kSliceEpochs * times, kOverlap, definition->traits().reach}, {{definition, kOverlap}}, {}, false};
  out.settings.payload.resize(sources);
  for (const auto& hits : deal(all, sources)) {
    const auto stream = make_stream(hits, kBase.epoch_ticks, kEpochsPerBuffer);
    for (std::uint64_t i = 0; i < kSlices; ++i) {
      out.memory[i].push_back(sent_bytes(stream, out.settings.geometry.sent_epochs({i})));
      out.slices[i].push_back({{out.memory[i].back()}, {}});
    }
  }
  return out;
}

/// A builder with the memory that it reuses, and its output.
struct Bench {
  SliceBuilder builder;
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  std::uint64_t hits = 0;
  std::uint64_t events = 0;
  std::uint64_t hits_in_events = 0;

  explicit Bench(const SliceBuilderSettings& settings) : builder(settings) {}

  void build(const Workload& work) {
    hits = events = hits_in_events = 0;
    for (std::uint64_t i = 0; i < kSlices; ++i) {
      builder.build({i}, work.slices[i], built, problems);
      const auto& slice = built.front();
      hits += slice.ledger.hits_in;
      events += slice.events.size();
      hits_in_events += slice.ledger.hits_in_events;
    }
  }
};

}  // namespace
}  // namespace eventloom::test

/// Callgrind finds the code to count by this name.
extern "C" [[gnu::noinline]] void counted_builds(eventloom::test::Bench& bench, const eventloom::test::Workload& work) {
  bench.build(work);
}

int main(int argc, char** argv) try {
  using namespace eventloom;
  if (argc != 5) throw UserError("usage: builder_cost SOURCES DEFINITION ordered|shuffled TIMES");
  const auto sources = std::stoul(argv[1]);
  const auto definition = parse_event_definition(argv[2], test::kBase.tick_ps, test::two_groups(sources));
  const bool ordered = std::string_view(argv[3]) == "ordered";
  const auto work = test::make_workload(sources, definition, ordered, std::stoul(argv[4]));
  test::Bench bench(work.settings);
  bench.build(work);
  counted_builds(bench, work);
  if (!bench.problems.empty()) throw UserError(bench.problems.front().reason);
  std::cout << bench.hits << ' ' << bench.events << ' ' << bench.hits_in_events << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return eventloom::kExitUsage;
}
