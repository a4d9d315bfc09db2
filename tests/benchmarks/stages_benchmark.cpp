/// Million hits a second on one core through the stages of a builder: decode (checksums included),
/// time sort, event definition, and all of them as SliceBuilder::build. Epoch buffers of 10,000 hits
/// without payload; the baseline is std::sort of the same hits.
///
/// Every run goes round through some 32 MiB of different data, so that neither the second-level
/// cache nor the branch predictor knows it by heart.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/definitions/definitions.hpp"
#include "formats/crc32c.hpp"
#include "formats/epoch_buffer.hpp"

namespace {

using namespace eventloom;

constexpr std::uint64_t kHitsPerBuffer = 10'000;
constexpr std::uint32_t kEpochTicks = 10'000;
constexpr std::uint64_t kPoolHits = 4'000'000;

/// How the hits lie in time.
enum class Pattern : std::int64_t {
  noise,     ///< evenly, one hit in 100 ticks over all sources: nearly all outside events
  events,    ///< clusters of 8 hits on average within 20 ticks: nearly all inside events
  dense,     ///< evenly, one hit a tick in every source
  shuffled,  ///< as noise, the words of each epoch in random order
};

struct Workload {
  SliceBuilderSettings settings;
  std::vector<std::vector<std::vector<std::uint64_t>>> memory;  ///< by slice and source
  std::vector<std::vector<SourceSlice>> slices;
  std::uint64_t hits_per_slice = 0;
};

std::vector<Tick> random_times(Pattern pattern, TickRange range, std::size_t sources, std::size_t source,
                               std::uint64_t seed) {
  std::mt19937_64 random(seed * 1000 + source);
  std::mt19937_64 common(seed);  // clusters lie at the same times in all sources
  std::vector<Tick> centres;
  const Tick length = range.end - range.begin;
  const std::uint64_t clusters = kHitsPerBuffer * sources / 8;
  if (pattern == Pattern::events) {
    for (std::uint64_t i = 0; i < clusters; ++i) centres.push_back(range.begin + Tick(common() % (length.value - 20)));
  }
  std::vector<Tick> times;
  for (std::uint64_t i = 0; i < kHitsPerBuffer; ++i) {
    times.push_back(pattern == Pattern::events ? centres[random() % clusters] + Tick(random() % 20)
                                               : range.begin + Tick(random() % length.value));
  }
  std::ranges::sort(times);
  if (pattern == Pattern::shuffled) {
    std::ranges::shuffle(times, random);
    std::ranges::stable_sort(times, {}, [](Tick t) { return epoch_of(t, kEpochTicks); });
  }
  return times;
}

std::vector<std::uint64_t> encode(const std::vector<Tick>& times, EpochRange epochs, std::uint64_t seed) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  std::vector<std::uint32_t> words;
  MarkerWriter writer(words);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Epoch epoch = epoch_of(times[i], kEpochTicks);
    const bool new_epoch = i == 0 || epoch != epoch_of(times[i - 1], kEpochTicks);
    if (new_epoch) writer.epoch(epoch);
    if (new_epoch || times[i] != times[i - 1]) writer.time(static_cast<std::uint32_t>(times[i] % kEpochTicks));
    writer.channel(static_cast<std::uint32_t>(random()) & kValueMask);
  }
  writer.finish();
  EpochBufferHeader header{.first_epoch = epochs.begin,
                           .n_epochs = static_cast<std::uint32_t>(epochs.end - epochs.begin),
                           .n_words = static_cast<std::uint32_t>(words.size()),
                           .n_hits = static_cast<std::uint32_t>(times.size())};
  seal(header, words);
  std::vector<std::uint64_t> out(header.stored_bytes() / 8);
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header / 8, words.data(), words.size() * 4);
  return out;
}

SliceBuilderSettings settings_for(Pattern pattern, std::size_t sources, const EventDefinitionPtr& definition) {
  SliceBuilderSettings settings;
  settings.events = {{definition, Tick(kEpochTicks)}};
  settings.payload.resize(sources);
  settings.geometry = {{1000, kEpochTicks},
                       pattern == Pattern::dense ? 1 : 100 * sources,
                       Tick(kEpochTicks),
                       definition->traits().reach};
  return settings;
}

/// One buffer of each source for each slice.
Workload make_workload(Pattern pattern, std::size_t sources, const EventDefinitionPtr& definition) {
  Workload out;
  out.settings = settings_for(pattern, sources, definition);
  out.hits_per_slice = kHitsPerBuffer * sources;
  const std::uint64_t n_slices = std::max<std::uint64_t>(kPoolHits / out.hits_per_slice, 2);
  for (std::uint64_t i = 0; i < n_slices; ++i) {
    auto& memory = out.memory.emplace_back();
    auto& slice = out.slices.emplace_back();
    for (std::size_t s = 0; s < sources; ++s) {
      const auto times = random_times(pattern, out.settings.geometry.owned_ticks({i}), sources, s, i + 1);
      memory.push_back(encode(times, out.settings.geometry.owned_epochs({i}), i * sources + s));
    }
    for (const auto& buffer : memory) slice.push_back({{std::as_bytes(std::span(buffer))}, {}});
  }
  return out;
}

/// Mostly outside: 5 hits within 100 ns are rare at one hit in 100 ns. `events` takes 2 within 25 ns.
EventDefinitionPtr gap_for(Pattern pattern) {
  return parse_event_definition(pattern == Pattern::events ? "gap:25,2" : "gap:25,5", 1000);
}
EventDefinitionPtr multiplicity_for(Pattern pattern) {
  return parse_event_definition(pattern == Pattern::events ? "multiplicity:50,2,1,1" : "multiplicity:50,5", 1000);
}

void name_columns(benchmark::internal::Benchmark* b) {
  b->ArgNames({"sources", "pattern"})->Unit(benchmark::kMicrosecond);
  for (const auto pattern : {Pattern::noise, Pattern::events, Pattern::dense, Pattern::shuffled}) {
    for (const std::int64_t sources : {1, 4, 16, 100}) b->Args({sources, static_cast<std::int64_t>(pattern)});
  }
}

Workload workload_of(const benchmark::State& state, EventDefinitionPtr (*definition)(Pattern)) {
  const auto pattern = static_cast<Pattern>(state.range(1));
  return make_workload(pattern, static_cast<std::size_t>(state.range(0)), definition(pattern));
}

void set_rate(benchmark::State& state, const Workload& work) {
  state.counters["hits/s"] =
      benchmark::Counter(static_cast<double>(work.hits_per_slice), benchmark::Counter::kIsIterationInvariantRate);
}

void build(benchmark::State& state, EventDefinitionPtr (*definition)(Pattern)) {
  const auto work = workload_of(state, definition);
  SliceBuilder builder(work.settings);
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  std::uint64_t i = 0;
  double in_events = 0;
  double hits = 0;
  for (auto _ : state) {
    builder.build({i}, work.slices[i], built, problems);
    const auto& slice = built.front();
    benchmark::DoNotOptimize(slice.hits.time.data());
    in_events += static_cast<double>(slice.ledger.hits_in_events);
    hits += static_cast<double>(slice.ledger.hits_in);
    i = (i + 1) % work.slices.size();
  }
  if (!problems.empty() || hits == 0) state.SkipWithError("the data is not what it should be");
  set_rate(state, work);
  state.counters["in_events"] = in_events / hits;
}
BENCHMARK_CAPTURE(build, gap, gap_for)->Apply(name_columns);
BENCHMARK_CAPTURE(build, multiplicity, multiplicity_for)->Apply(name_columns);

void decode(benchmark::State& state) {
  const auto work = workload_of(state, gap_for);
  SliceDecoder decoder(work.settings);
  std::vector<BuildProblem> problems;
  std::uint64_t i = 0;
  for (auto _ : state) {
    decoder.decode({i}, work.slices[i], problems);
    auto size = decoder.hits().size;
    benchmark::DoNotOptimize(size);
    i = (i + 1) % work.slices.size();
  }
  set_rate(state, work);
}
BENCHMARK(decode)->Apply(name_columns);

/// Decoded hits of some slices, to time what comes behind the decoder.
std::vector<std::unique_ptr<SliceDecoder>> decoded(const Workload& work) {
  std::vector<std::unique_ptr<SliceDecoder>> out;
  std::vector<BuildProblem> problems;
  for (std::uint64_t i = 0; i < work.slices.size(); ++i) {
    out.push_back(std::make_unique<SliceDecoder>(work.settings));
    out.back()->decode({i}, work.slices[i], problems);
  }
  return out;
}

void time_sort(benchmark::State& state) {
  const auto work = workload_of(state, gap_for);
  const auto decoders = decoded(work);
  TimeSort sort;
  std::uint64_t i = 0;
  for (auto _ : state) {
    const auto sent = work.settings.geometry.sent_epochs({i});
    benchmark::DoNotOptimize(sort.sort(decoders[i]->hits(), sent.end - sent.begin, kEpochTicks).data());
    i = (i + 1) % work.slices.size();
  }
  set_rate(state, work);
}
BENCHMARK(time_sort)->Apply(name_columns);

void define(benchmark::State& state, EventDefinitionPtr (*definition)(Pattern)) {
  const auto work = workload_of(state, definition);
  const auto decoders = decoded(work);
  const auto& geometry = work.settings.geometry;
  std::vector<TimeSort> sorts(work.slices.size());
  std::vector<std::span<const HitKey>> keys;
  for (std::uint64_t i = 0; i < work.slices.size(); ++i) {
    const auto sent = geometry.sent_epochs({i});
    keys.push_back(sorts[i].sort(decoders[i]->hits(), sent.end - sent.begin, kEpochTicks));
  }
  EventList events;
  std::uint64_t i = 0;
  for (auto _ : state) {
    const Tick start = tick_of_epoch(geometry.sent_epochs({i}).begin, kEpochTicks);
    const auto owned = geometry.owned_ticks({i});
    events.restart(keys[i], {start, owned.begin - start, owned.end - start, geometry.overlap});
    work.settings.events.front().definition->find({start, keys[i]}, events);
    benchmark::DoNotOptimize(events.events().data());
    i = (i + 1) % work.slices.size();
  }
  set_rate(state, work);
}
BENCHMARK_CAPTURE(define, gap, gap_for)->Apply(name_columns);
BENCHMARK_CAPTURE(define, multiplicity, multiplicity_for)->Apply(name_columns);

void checksum(benchmark::State& state) {
  const auto work = workload_of(state, gap_for);
  std::uint64_t i = 0;
  for (auto _ : state) {
    for (const auto& source : work.slices[i]) benchmark::DoNotOptimize(crc32c(source.pieces.front()));
    i = (i + 1) % work.slices.size();
  }
  set_rate(state, work);
}
BENCHMARK(checksum)->Apply(name_columns);

/// The baseline: std::sort alone of 16-byte hits, the copy to sort included.
void std_sort(benchmark::State& state) {
  struct Hit {
    Tick time;
    std::uint32_t number;
    std::uint32_t channel;
  };
  const auto work = workload_of(state, gap_for);
  std::vector<std::vector<Hit>> slices;
  for (const auto& decoder : decoded(work)) {
    const auto& hits = decoder->hits();
    auto& slice = slices.emplace_back();
    for (std::uint32_t k = 0; k < hits.size; ++k)
      slice.push_back({Tick(hits.tick.data()[k]), k, hits.channel.data()[k]});
  }
  std::vector<Hit> copy;
  std::uint64_t i = 0;
  for (auto _ : state) {
    copy = slices[i];
    std::ranges::sort(
        copy, [](const Hit& a, const Hit& b) { return a.time != b.time ? a.time < b.time : a.number < b.number; });
    benchmark::DoNotOptimize(copy.data());
    i = (i + 1) % work.slices.size();
  }
  set_rate(state, work);
}
BENCHMARK(std_sort)->Apply(name_columns);

}  // namespace
