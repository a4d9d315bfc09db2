#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "event_reference.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {

namespace {

constexpr std::uint32_t kTicksOfEpoch = 100;
constexpr std::uint64_t kSliceLengths[] = {1, 3, 10, 1000};

TestRun random_run(std::uint64_t seed, std::string_view definition) {
  std::mt19937_64 random(seed);
  TestRun run;
  run.definition = parse_event_definition(definition, 1000);
  run.overlap = 150;
  for (std::uint16_t s = 0; s < 3; ++s) {
    std::vector<RefHit> hits;
    for (Tick t(random() % 20); t < 6000; t += Tick(random() % 25)) {
      hits.push_back({t, static_cast<std::uint32_t>(random() & kValueMask), {}, s});
    }
    run.payload.push_back({});
    run.streams.push_back(
        make_stream(hits, kTicksOfEpoch, [&] { return static_cast<std::uint32_t>(1 + random() % 7); }));
  }
  run.damage.resize(3);
  return run;
}

/// What a run must report after losing some of its buffers.
struct Expected {
  std::vector<std::vector<RefHit>> hits;
  std::vector<std::pair<std::uint16_t, Damage>> damage;
  std::uint64_t lost = 0;
};

Expected expected_of(const TestRun& run, const std::map<std::pair<std::size_t, std::size_t>, DropCause>& dropped) {
  Expected out;
  for (std::size_t s = 0; s < run.streams.size(); ++s) {
    out.hits.emplace_back();
    for (std::size_t b = 0; b < run.streams[s].size(); ++b) {
      const auto& buffer = run.streams[s][b];
      if (!dropped.contains({s, b})) {
        out.hits.back().insert(out.hits.back().end(), buffer.hits.begin(), buffer.hits.end());
        continue;
      }
      out.damage.push_back({static_cast<std::uint16_t>(s),
                            {.first_epoch = buffer.header.first_epoch, .n_epochs = Epoch(buffer.header.n_epochs)}});
      out.lost += buffer.hits.size();
    }
    for (const auto& d : run.damage[s]) {
      out.damage.push_back({static_cast<std::uint16_t>(s), d});
      out.lost += d.n_hits;
    }
  }
  return out;
}

/// The mask of sources with damaged epochs within `reach` of the event.
std::uint64_t mask_of(const Expected& expected, Tick first, Tick last, Tick reach) {
  std::uint64_t mask = 0;
  for (const auto& [source, d] : expected.damage) {
    for (Epoch e = d.first_epoch; e < d.first_epoch + d.n_epochs; ++e) {
      const Tick begin = tick_of_epoch(e, kTicksOfEpoch);
      const Tick end = tick_of_epoch(e + 1, kTicksOfEpoch) - 1;
      if (begin <= last + reach && first <= end + reach) mask |= std::uint64_t{1} << source;
    }
  }
  return mask;
}

std::vector<std::uint32_t> missing_of(const Expected& expected, EpochRange owned) {
  std::set<std::uint32_t> sources;
  for (const auto& [source, d] : expected.damage) {
    for (Epoch e = d.first_epoch; e < d.first_epoch + d.n_epochs; ++e) {
      if (owned.contains(e)) sources.insert(source);
    }
  }
  return {sources.begin(), sources.end()};
}

void expect_damage(const TestRun& run, const Expected& expected, std::size_t n_problems) {
  const auto events = reference_events(expected.hits, run.definition->text(), run.overlap);
  for (const auto length : kSliceLengths) {
    SCOPED_TRACE("epochs per slice " + std::to_string(length));
    std::vector<BuildProblem> problems;
    const auto slices = run.build(length, problems);
    expect_events(slices, events, expected.hits, run.geometry(length), run.with_payload);
    EXPECT_EQ(problems.size(), n_problems);
    std::uint64_t lost = 0;
    for (const auto& slice : slices) {
      lost += slice.ledger.dropped();
      EXPECT_EQ(slice.sources_missing, missing_of(expected, run.geometry(length).owned_epochs(slice.slice())));
      for (std::size_t i = 0; i < slice.events.size(); ++i) {
        const Tick first = slice.events.time[i];
        const auto mask = mask_of(expected, first, first + slice.events.duration[i], run.definition->traits().reach);
        EXPECT_EQ(slice.events.sources_missing[i], mask) << "event at " << first.value;
        EXPECT_EQ((slice.events.flags[i] & kIncomplete) != 0, mask != 0);
      }
    }
    EXPECT_EQ(lost, expected.lost);
  }
}

std::vector<std::uint32_t> words_in(const StoredBuffer& buffer) {
  std::vector<std::uint32_t> words(buffer.header.n_words);
  std::memcpy(words.data(), buffer.bytes.data() + sizeof(EpochBufferHeader), words.size() * 4);
  return words;
}

/// Replaces the words and corrects the checksum, but keeps what the header states.
void replace_words(StoredBuffer& buffer, const std::vector<std::uint32_t>& words) {
  auto changed = store(buffer.header, words);
  changed.hits = buffer.hits;
  buffer = changed;
}

/// The bytes that each source sends for a slice.
std::vector<std::vector<std::byte>> bytes_sent(const TestRun& run, std::uint64_t epochs_per_slice, SliceId slice) {
  std::vector<std::vector<std::byte>> bytes(run.streams.size());
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    for (const auto& buffer : run.streams[s]) {
      if (!buffer.header.epochs().overlaps(run.geometry(epochs_per_slice).sent_epochs(slice))) continue;
      bytes[s].insert(bytes[s].end(), buffer.bytes.begin(), buffer.bytes.end());
    }
  }
  return bytes;
}

std::pair<BuiltSlice, std::vector<BuildProblem>> build_one(const TestRun& run, std::uint64_t epochs_per_slice,
                                                           SliceId slice,
                                                           const std::vector<std::vector<std::byte>>& bytes) {
  std::vector<SourceSlice> sources(bytes.size());
  for (std::size_t s = 0; s < bytes.size(); ++s) sources[s].pieces = {bytes[s]};
  SliceBuilder builder({run.geometry(epochs_per_slice), {{run.definition, run.overlap}}, run.payload});
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  builder.build(slice, sources, built, problems);
  return {built.front(), problems};
}

constexpr const char* kDefinitions[] = {"gap:12,3", "multiplicity:20,3,1,1", "tag"};

}  // namespace

/// Data may lie in several pieces of memory. Where a header is damaged, those behind it are lost as within one piece.
TEST(SliceBuilderDamage, PiecesCountLikeOneBehindTheOther) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto run = random_run(seed, "gap:12,3");
    const SliceId slice{1};
    if (seed % 2 == 0) run.streams[0][run.streams[0].size() / 3].bytes[8] ^= std::byte{1};
    const auto bytes = bytes_sent(run, 20, slice);
    const auto [joined, joined_problems] = build_one(run, 20, slice, bytes);
    std::vector<SourceSlice> sources(bytes.size());
    for (std::size_t s = 0; s < bytes.size(); ++s) {
      for (const auto& buffer : run.streams[s]) {
        if (!buffer.header.epochs().overlaps(run.geometry(20).sent_epochs(slice))) continue;
        sources[s].pieces.emplace_back(buffer.bytes);
      }
      ASSERT_GT(sources[s].pieces.size(), 1U);
    }
    SliceBuilder builder({run.geometry(20), {{run.definition, run.overlap}}, run.payload});
    std::vector<BuiltSlice> built;
    std::vector<BuildProblem> problems;
    builder.build(slice, sources, built, problems);
    EXPECT_EQ(built.front().events.time, joined.events.time);
    EXPECT_EQ(built.front().ledger.hits_in, joined.ledger.hits_in);
    EXPECT_EQ(built.front().ledger.dropped(), joined.ledger.dropped());
    EXPECT_GT(built.front().events.size(), 0U);
    ASSERT_EQ(problems.size(), joined_problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) EXPECT_EQ(problems[i].reason, joined_problems[i].reason);
  }
}

TEST(SliceBuilderDamage, FlippedBitsDropTheWholeBuffer) {
  for (const char* definition : kDefinitions) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      auto run = random_run(seed, definition);
      std::mt19937_64 random(seed);
      std::map<std::pair<std::size_t, std::size_t>, DropCause> dropped;
      for (std::size_t s = 0; s < 2; ++s) {
        const std::size_t b = random() % run.streams[s].size();
        auto& bytes = run.streams[s][b].bytes;
        const std::size_t bit = random() % (std::size_t{run.streams[s][b].header.n_words} * 32);
        bytes[sizeof(EpochBufferHeader) + bit / 8] ^= std::byte(1U << bit % 8);
        dropped[{s, b}] = DropCause::corrupt;
      }
      expect_damage(run, expected_of(run, dropped), 2);
    }
  }
}

TEST(SliceBuilderDamage, AFormatErrorDropsWhatWasDecodedBeforeItAndNamesTheWord) {
  for (const char* definition : kDefinitions) {
    auto run = random_run(5, definition);
    auto& buffer = run.streams[1][3];
    auto words = words_in(buffer);
    words.push_back(encode_marker(MarkerType::peak, 1));  // outside any time marker
    replace_words(buffer, words);
    expect_damage(run, expected_of(run, {{{1, 3}, DropCause::corrupt}}), 1);
    std::vector<BuildProblem> problems;
    run.build(10, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].source, SourceId{1});
    EXPECT_EQ(problems[0].damage.first_epoch, buffer.header.first_epoch);
    EXPECT_EQ(problems[0].damage.n_hits, buffer.hits.size());
    EXPECT_EQ(problems[0].damage.file_offset, buffer.header.stream_offset + 64 + 4 * (words.size() - 1));
    EXPECT_EQ(problems[0].reason, "a peak outside a time marker");
  }
}

TEST(SliceBuilderDamage, AWrongNumberOfHitsDropsTheBuffer) {
  auto run = random_run(6, "gap:12,3");
  auto& buffer = run.streams[0][2];
  auto words = words_in(buffer);
  words.insert(words.end(), {encode_time(99, 1), encode_marker(MarkerType::channel, 5)});
  replace_words(buffer, words);
  expect_damage(run, expected_of(run, {{{0, 2}, DropCause::corrupt}}), 1);
}

TEST(SliceBuilderDamage, MoreHitsThanASliceMayHoldInAHeaderAloneDropTheBuffer) {
  auto run = random_run(6, "gap:12,3");
  auto& buffer = run.streams[0][2];
  const auto words = words_in(buffer);
  buffer.header.n_hits = 1U << 30;
  replace_words(buffer, words);
  auto expected = expected_of(run, {{{0, 2}, DropCause::corrupt}});
  expected.lost = buffer.header.n_hits;  // as for every dropped buffer, the header gives the number
  expect_damage(run, expected, 1);
}

TEST(SliceBuilderDamage, StretchesLeftOutByTheSourceFlagWhatTheyTouch) {
  for (const char* definition : kDefinitions) {
    auto run = random_run(7, definition);
    run.damage[2].push_back({.first_epoch = 11, .n_epochs = 3, .n_hits = 17, .cause = DropCause::duplicate});
    run.damage[0].push_back({.first_epoch = 12, .n_epochs = 1, .n_hits = 2, .cause = DropCause::out_of_order});
    run.damage[0].push_back({.first_epoch = 40, .n_epochs = 30, .n_hits = 0});
    expect_damage(run, expected_of(run, {}), 0);
    std::vector<BuildProblem> problems;
    const auto slices = run.build(1000, problems);
    EXPECT_EQ(slices[0].ledger.hits_dropped, (std::array<std::uint64_t, kDropCauses>{0, 17, 2}));
  }
}

TEST(SliceBuilderDamage, ABufferThatStartsBeforeTheLastOneEndsIsDropped) {
  auto run = random_run(8, "gap:12,3");
  auto& stream = run.streams[1];
  stream.insert(stream.begin() + 4, stream[3]);
  std::vector<BuildProblem> problems;
  const auto slices = run.build(1000, problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].damage.cause, DropCause::out_of_order);
  EXPECT_EQ(slices[0].ledger.dropped(), stream[3].hits.size());
  EXPECT_TRUE(slices[0].ledger.balances());
}

TEST(SliceBuilderDamage, ADamagedHeaderCostsTheRestOfTheSource) {
  auto run = random_run(9, "gap:12,3");
  auto& stream = run.streams[1];
  stream[4].bytes[20] ^= std::byte{1};
  std::vector<std::vector<RefHit>> hits;
  for (std::size_t s = 0; s < 3; ++s) {
    hits.emplace_back();
    for (std::size_t b = 0; b < (s == 1 ? 4 : run.streams[s].size()); ++b) {
      hits[s].insert(hits[s].end(), run.streams[s][b].hits.begin(), run.streams[s][b].hits.end());
    }
  }
  std::vector<BuildProblem> problems;
  const auto slices = run.build(1000, problems);
  expect_events(slices, reference_events(hits, run.definition->text(), run.overlap), hits, run.geometry(1000), false);
  ASSERT_GE(problems.size(), 1U);
  EXPECT_EQ(problems[0].damage.first_epoch, stream[3].header.epochs().end);
  EXPECT_EQ(slices[0].sources_missing, std::vector<std::uint32_t>{1});
}

// A late network may leave an older, intact buffer in the place of a new one.
TEST(SliceBuilderDamage, ABufferOfAnotherSliceIsALossAndNoSilentGap) {
  const auto run = random_run(11, "gap:12,3");
  auto bytes = bytes_sent(run, 10, {4});
  bytes[1] = run.streams[1].front().bytes;
  const auto [slice, problems] = build_one(run, 10, {4}, bytes);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].source, SourceId{1});
  EXPECT_EQ(slice.sources_missing, std::vector<std::uint32_t>{1});
  EXPECT_EQ(slice.ledger.dropped(), 0U) << "its hits count in their own slice; those that did not arrive are unknown";
  EXPECT_TRUE(slice.ledger.balances());
}

// Where the margin after the slice is damaged, no other slice may have the same bytes: the loss is charged to this one.
TEST(SliceBuilderDamage, ADamagedHeaderInTheMarginIsChargedToTheSlice) {
  auto run = random_run(13, "gap:12,3");
  std::vector<RefHit> hits;
  for (const auto& buffer : run.streams[1]) hits.insert(hits.end(), buffer.hits.begin(), buffer.hits.end());
  run.streams[1] = make_stream(hits, kTicksOfEpoch, 1);
  auto bytes = bytes_sent(run, 10, {4});
  const auto last = std::ranges::find(run.streams[1], Epoch(50), [](const auto& b) { return b.header.first_epoch; });
  ASSERT_NE(last, run.streams[1].end());
  const auto at = std::search(bytes[1].begin(), bytes[1].end(), last->bytes.begin(), last->bytes.end());
  ASSERT_NE(at, bytes[1].end());
  at[20] ^= std::byte{1};
  const auto [slice, problems] = build_one(run, 10, {4}, bytes);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].damage.first_epoch, Epoch(49)) << "the last epoch that the slice owns";
  EXPECT_EQ(problems[0].damage.n_epochs, Epoch(3));
  EXPECT_EQ(slice.sources_missing, std::vector<std::uint32_t>{1});
}

TEST(SliceBuilderDamage, ALossOfUnknownCauseIsRefused) {
  auto run = random_run(12, "gap:12,3");
  run.damage[1].push_back(
      {.first_epoch = 11, .n_epochs = 3, .n_hits = 17, .cause = static_cast<DropCause>(kDropCauses)});
  std::vector<BuildProblem> problems;
  EXPECT_THROW(run.build(1000, problems), std::runtime_error);
}

TEST(SliceBuilderDamage, ACutOffBufferIsNotReadBeyondItsEnd) {
  auto run = random_run(10, "gap:12,3");
  auto& last = run.streams[2].back();
  last.bytes.resize(last.bytes.size() - 8);
  auto expected = expected_of(run, {{{2, run.streams[2].size() - 1}, DropCause::corrupt}});
  std::vector<BuildProblem> problems;
  const auto slices = run.build(1000, problems);
  expect_events(slices, reference_events(expected.hits, run.definition->text(), run.overlap), expected.hits,
                run.geometry(1000), false);
  EXPECT_EQ(slices[0].ledger.dropped(), last.hits.size());
}

TEST(SliceBuilderDamage, MissingEpochsEndBeforeTheTickAfterThem) {
  // One hit at 500, with no reach around it: epochs 4 and 6, of 100 ticks, do not touch it.
  TestRun run;
  run.definition = parse_event_definition("tag", 1000);
  run.payload.resize(4);
  run.streams.resize(4);
  run.damage.resize(4);
  run.streams[0] = make_stream({{500, 1, {}, 0}}, kTicksOfEpoch, 1);
  run.damage[1].push_back({.first_epoch = 3, .n_epochs = 7});
  run.damage[2].push_back({.first_epoch = 4, .n_epochs = 1});
  run.damage[3].push_back({.first_epoch = 6, .n_epochs = 1});
  std::vector<BuildProblem> problems;
  const auto slices = run.build(10, {0}, {0}, problems);
  ASSERT_EQ(slices[0].events.size(), 1U);
  EXPECT_EQ(slices[0].events.sources_missing[0], 0b10U);
}

TEST(SliceBuilderDamage, SourcesFrom63OnShareABit) {
  TestRun run;
  run.definition = parse_event_definition("tag", 1000);
  run.streams.resize(70);
  run.payload.resize(70);
  run.damage.resize(70);
  run.streams[0] = make_stream({{450, 1, {}, 0}}, kTicksOfEpoch, 1);
  run.damage[62].push_back({.first_epoch = 4, .n_epochs = 1});
  run.damage[63].push_back({.first_epoch = 4, .n_epochs = 1});
  run.damage[69].push_back({.first_epoch = 4, .n_epochs = 1});
  std::vector<BuildProblem> problems;
  const auto slices = run.build(10, {0}, {0}, problems);
  ASSERT_EQ(slices[0].events.size(), 1U);
  EXPECT_EQ(slices[0].events.sources_missing[0], 0xc000000000000000U);
  EXPECT_EQ(slices[0].sources_missing, (std::vector<std::uint32_t>{62, 63, 69}));
}

/// Each hit of a live source is counted in one slice, whatever became of it.
TEST(SliceBuilderDamage, HitsOfLiveSourcesAreCountedBySource) {
  for (const auto length : kSliceLengths) {
    auto run = random_run(11, "gap:12,3");
    run.streams[0][2].bytes[sizeof(EpochBufferHeader)] ^= std::byte{1};
    SliceBuilderSettings settings{run.geometry(length), {{run.definition, run.overlap}}, run.payload};
    settings.live = {1, 0, 1};
    SliceBuilder builder(settings);
    std::map<std::uint32_t, std::uint64_t> found;
    std::uint64_t all = 0;
    for (SliceId slice; slice.value * length * kTicksOfEpoch < 7000; ++slice.value) {
      const auto bytes = bytes_sent(run, length, slice);
      std::vector<SourceSlice> sources(bytes.size());
      for (std::size_t s = 0; s < bytes.size(); ++s) sources[s].pieces = {bytes[s]};
      std::vector<BuiltSlice> built;
      std::vector<BuildProblem> problems;
      builder.build(slice, sources, built, problems);
      all += built.front().ledger.hits_in;
      for (const auto& [source, reserved, n] : built.front().live_hits) found[source] += n;
    }
    std::vector<std::uint64_t> sent;
    for (const auto& stream : run.streams) {
      sent.push_back(0);
      for (const auto& buffer : stream) sent.back() += buffer.hits.size();
    }
    EXPECT_EQ(found, (std::map<std::uint32_t, std::uint64_t>{{0, sent[0]}, {2, sent[2]}})) << length;
    EXPECT_EQ(all, sent[0] + sent[1] + sent[2]) << length;
  }
}

}  // namespace eventloom::test
