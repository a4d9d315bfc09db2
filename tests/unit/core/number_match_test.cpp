#include "core/dataflow/number_match.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>

#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "event_reference.hpp"
#include "formats/stream_file.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {

namespace {

constexpr std::uint32_t kEpochTicks = 10;
constexpr std::uint32_t kTriggered = kNumbered | kTriggerInPayload;
constexpr std::uint32_t kTagged = kTriggered | with_tag_word(3);
constexpr auto kOutOfStep = static_cast<std::size_t>(DropCause::out_of_step);

/// A run of numbered sources.
struct NumberedRun {
  std::vector<std::uint32_t> flags;
  std::vector<std::vector<RefHit>> hits;  ///< by source, with ascending numbers
  std::vector<std::vector<Damage>> damage;
  Tick overlap = 25;
  bool with_payload = true;

  explicit NumberedRun(std::vector<std::uint32_t> stream_flags)
      : flags(std::move(stream_flags)), hits(flags.size()), damage(flags.size()) {}

  /// Adds `n` hits of a source to the event `number`. Their payload: its length, the trigger type above 16 bits that
  /// mean nothing here, and one more word.
  void add(std::uint16_t source, Tick number, std::uint32_t trigger, std::uint32_t n = 1) {
    for (std::uint32_t i = 0; i < n; ++i) {
      hits[source].push_back({number, source * 16U + i, {2, trigger << 16 | (source + 1U), i}, source});
    }
  }

  /// As add(), with a tag in the third word of the payload.
  void add_tagged(std::uint16_t source, Tick number, std::uint32_t trigger, std::uint32_t tag, std::uint32_t n = 1) {
    for (std::uint32_t i = 0; i < n; ++i) {
      hits[source].push_back({number, source * 16U + i, {2, trigger << 16, i << 8 | tag}, source});
    }
  }

  [[nodiscard]] std::uint16_t n_sources() const { return static_cast<std::uint16_t>(hits.size()); }

  [[nodiscard]] SliceGeometry geometry(std::uint64_t epochs_per_slice) const {
    return {{1000, kEpochTicks}, epochs_per_slice, overlap, 0};
  }

  [[nodiscard]] SliceBuilderSettings settings(std::uint64_t epochs_per_slice) const {
    SliceBuilderSettings out{
        geometry(epochs_per_slice), {{parse_event_definition("tag", 1000), overlap}}, {}, with_payload, flags};
    out.payload.assign(hits.size(), PayloadTable::uniform(with_payload ? PayloadTable::kLengthInFirstWord : 0));
    return out;
  }

  /// All slices with data, and one more.
  std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice, std::vector<BuildProblem>& problems) const {
    std::vector<BuiltSlice> first;
    for (auto& built : build_all(settings(epochs_per_slice), problems)) first.push_back(std::move(built.front()));
    return first;
  }

  /// Builds with events of all kinds.
  std::vector<std::vector<BuiltSlice>> build_all(const SliceBuilderSettings& settings,
                                                 std::vector<BuildProblem>& problems) const {
    SliceBuilder builder(settings);
    const auto shape = widest(settings.geometry, settings.events);
    std::vector<Stream> streams;
    Epoch last = 0;
    for (const auto& source : hits) {
      streams.push_back(make_stream(source, kEpochTicks, 3));
      if (!source.empty()) last = std::max(last, epoch_of(source.back().time, kEpochTicks));
    }
    std::vector<std::vector<BuiltSlice>> out;
    std::vector<BuiltSlice> built;
    for (SliceId id{0}; id.value <= shape.slice_of(last).value + 1; ++id.value) {
      std::vector<std::vector<std::uint64_t>> memory(streams.size());
      std::vector<std::vector<Damage>> lost(streams.size());
      std::vector<SourceSlice> sources;
      const auto sent = shape.sent_epochs(id);
      for (std::size_t s = 0; s < streams.size(); ++s) {
        std::vector<std::byte> bytes;
        for (const auto& buffer : streams[s]) {
          if (buffer.header.epochs().overlaps(sent))
            bytes.insert(bytes.end(), buffer.bytes.begin(), buffer.bytes.end());
        }
        memory[s].resize((bytes.size() + 7) / 8);
        if (!bytes.empty()) std::memcpy(memory[s].data(), bytes.data(), bytes.size());
        for (const auto& d : damage[s]) {
          if (epochs_of(d).overlaps(sent)) lost[s].push_back(d);
        }
        sources.push_back({{std::as_bytes(std::span(memory[s])).first(bytes.size())}, lost[s]});
      }
      builder.build(id, sources, built, problems);
      out.push_back(built);
    }
    return out;
  }

  [[nodiscard]] std::vector<BuiltSlice> build(std::uint64_t epochs_per_slice = 4) const {
    std::vector<BuildProblem> problems;
    return build(epochs_per_slice, problems);
  }
};

/// The event that a run builds.
struct Made {
  std::vector<std::uint16_t> sources;  ///< of its hits
  std::uint32_t flags = 0;
  std::uint64_t missing = 0;
  friend bool operator==(const Made&, const Made&) = default;
};

void PrintTo(const Made& made, std::ostream* out) {
  *out << "sources";
  for (const auto s : made.sources) *out << ' ' << s;
  *out << ", flags " << made.flags << ", missing " << std::hex << made.missing << std::dec;
}

std::map<Tick, Made> events_of(const std::vector<BuiltSlice>& slices) {
  std::map<Tick, Made> events;
  for (const auto& slice : slices) {
    std::size_t hit = 0;
    for (std::size_t i = 0; i < slice.events.size(); ++i) {
      const std::size_t end = hit + slice.events.n_hits[i];
      if (slice.events.owned[i] == 0) {
        hit = end;
        continue;
      }
      Made made{{}, slice.events.flags[i], slice.events.sources_missing[i]};
      for (; hit < end; ++hit) made.sources.push_back(slice.hits.source[hit]);
      EXPECT_TRUE(events.emplace(slice.events.time[i], made).second)
          << "event " << slice.events.time[i].value << " twice";
    }
    EXPECT_EQ(hit, slice.hits.size());
  }
  return events;
}

std::uint64_t out_of_step(const std::vector<BuiltSlice>& slices) {
  std::uint64_t sum = 0;
  for (const auto& slice : slices) sum += slice.ledger.hits_dropped[kOutOfStep];
  return sum;
}

void expect_balance(const std::vector<BuiltSlice>& slices, std::uint64_t hits) {
  std::uint64_t in = 0;
  for (const auto& slice : slices) {
    EXPECT_TRUE(slice.ledger.balances()) << "slice " << slice.ledger.slice;
    in += slice.ledger.hits_in;
  }
  EXPECT_EQ(in, hits);
}

using Events = std::map<Tick, Made>;
using Numbers = std::initializer_list<Tick>;
Made whole(std::vector<std::uint16_t> sources) { return {std::move(sources), 0, 0}; }
Made lacking(std::vector<std::uint16_t> sources, std::uint64_t missing) {
  return {std::move(sources), kIncomplete, missing};
}
Made contradicted(std::vector<std::uint16_t> sources, std::uint64_t missing) {
  return {std::move(sources), kIncomplete | kTagError, missing};
}

}  // namespace

TEST(NumberMatch, EventsThatLackASourceAreFlaggedWithIt) {
  NumberedRun run({kNumbered, kNumbered, kNumbered});
  for (const Tick number : Numbers{5, 6, 8, 41}) run.add(0, number, 0);
  for (const Tick number : Numbers{5, 7, 8, 41}) run.add(1, number, 0, 2);
  for (const Tick number : Numbers{5, 6, 7, 40}) run.add(2, number, 0);
  const auto slices = run.build();
  EXPECT_EQ(events_of(slices), (Events{{5, whole({0, 1, 1, 2})},
                                       {6, lacking({0, 2}, 0b010)},
                                       {7, lacking({1, 1, 2}, 0b001)},
                                       {8, lacking({0, 1, 1}, 0b100)},
                                       {40, lacking({2}, 0b011)},
                                       {41, lacking({0, 1, 1}, 0b100)}}));
  EXPECT_EQ(slices.at(0).sources_missing, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(slices.at(1).sources_missing, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(slices.at(2).sources_missing, std::vector<std::uint32_t>{});
  expect_balance(slices, 4 + 8 + 4);
}

TEST(NumberMatch, OnlyNumberedSourcesCanBeMissing) {
  NumberedRun run({0, kNumbered, 0, kNumbered});
  for (const Tick number : Numbers{1, 3}) run.add(1, number, 0);
  for (const Tick number : Numbers{1, 2}) run.add(3, number, 0);
  run.add(0, 3, 0);
  const auto slices = run.build();
  EXPECT_EQ(events_of(slices), (Events{{1, whole({1, 3})}, {2, lacking({3}, 0b0010)}, {3, lacking({0, 1}, 0b1000)}}));
  EXPECT_EQ(slices[0].sources_missing, (std::vector<std::uint32_t>{1, 3}));
  NumberedRun free({0, 0});
  free.add(0, 1, 0);
  free.add(1, 2, 0);
  EXPECT_EQ(events_of(free.build()), (Events{{1, whole({0})}, {2, whole({1})}}));
  NumberedRun alone({kTriggered});
  alone.add(0, 1, 4);
  EXPECT_EQ(events_of(alone.build()), (Events{{1, whole({0})}}));
}

TEST(NumberMatch, ASliceLacksTheSourcesThatItsOwnEventsLack) {
  NumberedRun run({kNumbered, kNumbered});
  // Slices of 40 numbers, margins of 25: the first slice sees 41 of the second.
  for (const Tick number : Numbers{39, 41, 79, 80}) run.add(0, number, 0);
  for (const Tick number : Numbers{39, 40, 79}) run.add(1, number, 0);
  const auto slices = run.build(4);
  ASSERT_GE(slices.size(), 3U);
  EXPECT_EQ(slices[0].sources_missing, std::vector<std::uint32_t>{});
  EXPECT_EQ(slices[1].sources_missing, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(slices[2].sources_missing, std::vector<std::uint32_t>{1});
}

TEST(NumberMatch, SourcesFrom63OnShareABitAndKeepTheirNumbers) {
  NumberedRun run(std::vector<std::uint32_t>(70, kNumbered));
  for (std::uint16_t s = 0; s < 70; ++s) {
    if (s != 2 && s != 69) run.add(s, 5, 0);
    if (s != 62) run.add(s, 45, 0);
    if (s != 63 && s != 64) run.add(s, 85, 0);
    run.add(s, 125, 0);
  }
  const auto slices = run.build(4);
  const auto events = events_of(slices);
  constexpr std::uint64_t kShared = std::uint64_t{1} << 63;
  EXPECT_EQ(events.at(5).missing, kShared | 0b100U);
  EXPECT_EQ(events.at(45).missing, std::uint64_t{1} << 62);
  EXPECT_EQ(events.at(85).missing, kShared);
  EXPECT_EQ(events.at(125).missing, 0U);
  EXPECT_EQ(events.at(125).flags, 0U);
  EXPECT_EQ(slices[0].sources_missing, (std::vector<std::uint32_t>{2, 69}));
  EXPECT_EQ(slices[1].sources_missing, (std::vector<std::uint32_t>{62}));
  EXPECT_EQ(slices[2].sources_missing, (std::vector<std::uint32_t>{63, 64}));
  EXPECT_EQ(slices[3].sources_missing, std::vector<std::uint32_t>{});
}

TEST(NumberMatch, MissingByDamageAndByNumberAreOneList) {
  NumberedRun run({kNumbered, kNumbered, kNumbered, kNumbered});
  for (const std::uint16_t s : {0, 2}) run.add(s, 5, 0);
  run.damage[2] = {{.first_epoch = 0, .n_epochs = 1, .n_hits = 3}};
  run.damage[3] = {{.first_epoch = 0, .n_epochs = 1, .n_hits = 2, .cause = DropCause::out_of_step}};
  const auto slices = run.build();
  EXPECT_EQ(slices[0].sources_missing, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(events_of(slices), (Events{{5, lacking({0, 2}, 0b1110)}}));
  EXPECT_EQ(slices[0].ledger.hits_dropped[kOutOfStep], 2U);
  expect_balance(slices, 2 + 5);
}

TEST(NumberMatch, SourcesOfAnotherTriggerThanMostAreDropped) {
  for (std::uint16_t odd = 0; odd < 3; ++odd) {
    NumberedRun run({kTriggered, kTriggered, kTriggered});
    for (std::uint16_t s = 0; s < 3; ++s) {
      run.add(s, 4, 7, 2);
      run.add(s, 5, s == odd ? 9 : 7, 2);
      run.add(s, 6, 7, 2);
    }
    std::vector<BuildProblem> problems;
    const auto slices = run.build(4, problems);
    const auto events = events_of(slices);
    std::vector<std::uint16_t> others;
    for (std::uint16_t s = 0; s < 3; ++s) {
      if (s != odd) others.insert(others.end(), 2, s);
    }
    EXPECT_EQ(events, (Events{{4, whole({0, 0, 1, 1, 2, 2})},
                              {5, lacking(others, std::uint64_t{1} << odd)},
                              {6, whole({0, 0, 1, 1, 2, 2})}}));
    EXPECT_EQ(out_of_step(slices), 2U);
    EXPECT_EQ(slices[0].sources_missing, std::vector<std::uint32_t>{odd});
    expect_balance(slices, 18);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].source, SourceId{odd});
    EXPECT_EQ(problems[0].damage.cause, DropCause::out_of_step);
    EXPECT_EQ(problems[0].damage.n_hits, 2U);
    EXPECT_NE(problems[0].reason.find("event 5 "), std::string::npos) << problems[0].reason;
    EXPECT_NE(problems[0].reason.find("type 9 "), std::string::npos) << problems[0].reason;
    EXPECT_NE(problems[0].reason.find("have 7"), std::string::npos) << problems[0].reason;
  }
}

TEST(NumberMatch, SourcesVoteNotHits) {
  NumberedRun run({kTriggered, kTriggered, kTriggered});
  run.add(0, 5, 1);
  run.add(1, 5, 2, 10);
  run.add(2, 5, 1);
  EXPECT_EQ(events_of(run.build()), (Events{{5, lacking({0, 2}, 0b010)}}));
}

TEST(NumberMatch, WhereAsManySayOneAsTheOtherTheFirstSourceIsRight) {
  NumberedRun run({kTriggered, kTriggered, kTriggered, kTriggered});
  for (std::uint16_t s = 0; s < 2; ++s) run.add(s, 5, 9 - s);
  for (std::uint16_t s = 0; s < 4; ++s) run.add(s, 6, s == 0 || s == 3 ? 8 : 2);
  for (std::uint16_t s = 0; s < 4; ++s) run.add(s, 7, 20U - s);
  run.add(2, 9, 3);
  run.add(3, 9, 1);
  const auto slices = run.build();
  EXPECT_EQ(events_of(slices), (Events{{5, lacking({0}, 0b1110)},
                                       {6, lacking({0, 3}, 0b0110)},
                                       {7, lacking({0}, 0b1110)},
                                       {9, lacking({2}, 0b1011)}}));
  EXPECT_EQ(out_of_step(slices), 1U + 2 + 3 + 1);
  expect_balance(slices, 2 + 4 + 4 + 2);
}

TEST(NumberMatch, OnlyTheTriggerTypeIsCompared) {
  NumberedRun run({kTriggered, kTriggered});
  run.hits[0] = {{5, 1, {2, 0x00010002, 7}, 0}, {6, 1, {1, 0xffff0000}, 0}};
  run.hits[1] = {{5, 9, {4, 0x0001ffff, 8, 9, 10}, 1}, {6, 2, {1, 0xffffffff}, 1}};
  EXPECT_EQ(events_of(run.build()), (Events{{5, whole({0, 1})}, {6, whole({0, 1})}}));
}

/// A source that does not report the trigger type cannot contradict those that do.
TEST(NumberMatch, SourcesThatDoNotStateTheTriggerAreNotDroppedForIt) {
  NumberedRun run({kNumbered, kTriggered, kTriggered, kNumbered});
  for (std::uint16_t s = 0; s < 4; ++s) run.add(s, 5, 7);
  for (std::uint16_t s = 0; s < 4; ++s) run.add(s, 6, s == 2 ? 8 : 7);
  for (std::uint16_t s = 0; s < 4; ++s) run.add(s, 7, 0);
  const auto slices = run.build();
  EXPECT_EQ(events_of(slices),
            (Events{{5, whole({0, 1, 2, 3})}, {6, lacking({0, 1, 3}, 0b0100)}, {7, whole({0, 1, 2, 3})}}));
  EXPECT_EQ(out_of_step(slices), 1U);
  expect_balance(slices, 12);
}

TEST(NumberMatch, SourcesThatDoNotStateTheTriggerHaveNoVote) {
  NumberedRun run({kNumbered, kNumbered, kNumbered, kTriggered, kTriggered, kTriggered});
  for (std::uint16_t s = 0; s < 6; ++s) run.add(s, 5, s == 3 ? 4 : 7);
  EXPECT_EQ(events_of(run.build()), (Events{{5, lacking({0, 1, 2, 4, 5}, 0b001000)}}));
}

/// A hit whose payload is too short has no trigger type, whatever the header of its stream states.
TEST(NumberMatch, PayloadTooShortForATriggerStatesNone) {
  NumberedRun run({kTriggered, kTriggered, kTriggered});
  run.add(0, 5, 7);
  run.add(0, 6, 7);
  run.hits[1] = {{5, 1, {0}, 1}, {6, 1, {0}, 1}};
  run.add(2, 5, 7);
  run.add(2, 6, 7);
  EXPECT_EQ(events_of(run.build()), (Events{{5, whole({0, 1, 2})}, {6, whole({0, 1, 2})}}));
}

TEST(NumberMatch, SourcesOfAnotherTagThanMostAreDroppedAndTheEventSaysSo) {
  NumberedRun run({kTagged, kTagged, kTagged});
  for (std::uint16_t s = 0; s < 3; ++s) {
    run.add_tagged(s, 4, 7, 0x11, 2);
    run.add_tagged(s, 5, 7, s == 1 ? 0x22 : 0x21, 2);
    run.add_tagged(s, 6, 7, 0x30U + s, 2);
  }
  std::vector<BuildProblem> problems;
  const auto slices = run.build(4, problems);
  EXPECT_EQ(events_of(slices), (Events{{4, whole({0, 0, 1, 1, 2, 2})},
                                       {5, contradicted({0, 0, 2, 2}, 0b010)},
                                       {6, contradicted({0, 0}, 0b110)}}));
  EXPECT_EQ(out_of_step(slices), 6U);
  expect_balance(slices, 18);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].source, SourceId{1});
  EXPECT_NE(problems[0].reason.find("event 5 has tag 34 where other sources have 33"), std::string::npos)
      << problems[0].reason;
}

TEST(NumberMatch, TheTriggerIsDecidedBeforeTheTag) {
  NumberedRun run({kTagged, kTagged, kTagged, kTagged});
  run.add_tagged(0, 5, 1, 9);
  run.add_tagged(1, 5, 1, 8);
  run.add_tagged(2, 5, 1, 8);
  run.add_tagged(3, 5, 2, 9);
  EXPECT_EQ(events_of(run.build()), (Events{{5, contradicted({1, 2}, 0b1001)}}));
}

TEST(NumberMatch, TagsAreComparedWhereOnlyTheyAreStated) {
  NumberedRun run({kNumbered | with_tag_word(3), kNumbered | with_tag_word(3), kTriggered});
  run.add_tagged(0, 5, 1, 9);
  run.add_tagged(1, 5, 2, 8);
  run.add_tagged(2, 5, 3, 7);
  EXPECT_EQ(events_of(run.build()), (Events{{5, contradicted({0, 2}, 0b010)}}));
}

TEST(NumberMatch, EventsMayLackAnOptionalSource) {
  NumberedRun run({kNumbered, kNumbered | kOptional, kNumbered});
  for (std::uint16_t s = 0; s < 3; ++s) run.add(s, 4, 7);
  run.add(0, 5, 7);
  run.add(2, 5, 7);
  run.add(1, 6, 7);
  run.add(2, 6, 7);
  EXPECT_EQ(events_of(run.build()), (Events{{4, whole({0, 1, 2})}, {5, whole({0, 2})}, {6, lacking({1, 2}, 0b001)}}));
}

TEST(NumberMatch, AnEventOfAnOptionalSourceAloneLacksTheOnlyOther) {
  NumberedRun run({kNumbered, kNumbered | kOptional});
  run.add(0, 4, 7);
  run.add(1, 5, 7);
  EXPECT_EQ(events_of(run.build()), (Events{{4, whole({0})}, {5, lacking({1}, 0b01)}}));
}

TEST(NumberMatch, WithoutFlagsNothingIsMatched) {
  NumberedRun run({0, 0});
  run.flags.clear();
  run.add(0, 5, 1);
  run.add(1, 5, 2);
  run.add(1, 6, 2);
  EXPECT_EQ(events_of(run.build()), (Events{{5, whole({0, 1})}, {6, whole({1})}}));
}

/// Headers of hostile files may promise anything.
TEST(NumberMatch, AStreamWithoutPayloadStatesNoTrigger) {
  NumberedRun run({kTriggered, kTriggered});
  run.with_payload = false;
  run.hits[0] = {{5, 1, {}, 0}, {6, 1, {}, 0}};
  run.hits[1] = {{5, 1, {}, 1}};
  const auto slices = run.build();
  EXPECT_EQ(events_of(slices), (Events{{5, whole({0, 1})}, {6, lacking({0}, 0b10)}}));
  EXPECT_EQ(out_of_step(slices), 0U);
}

TEST(NumberMatch, OnlyTheOwnerOfAnEventCountsWhatIsDropped) {
  // Numbers at and around the border of two slices, within the margins of both.
  for (const std::uint64_t length : {1, 2, 4, 100}) {
    NumberedRun run({kTriggered, kTriggered, kTriggered});
    for (Tick number = 0; number < 100; ++number) {
      for (std::uint16_t s = 0; s < 3; ++s) run.add(s, number, number % 3 == 0 && s == 1 ? 2 : 1, 1 + s);
    }
    std::vector<BuildProblem> problems;
    const auto slices = run.build(length, problems);
    EXPECT_EQ(out_of_step(slices), 34U * 2);
    ASSERT_EQ(problems.size(), 34U);
    for (std::size_t i = 0; i < 34; ++i) {
      EXPECT_TRUE(problems[i].reason.starts_with("event " + std::to_string(3 * i) + " ")) << problems[i].reason;
    }
    for (const auto& slice : slices) {
      const auto ticks = run.geometry(length).owned_ticks(slice.slice());
      std::uint64_t expected = 0;
      for (Tick n = ticks.begin; n < std::min<Tick>(ticks.end, 100); ++n) expected += n % 3 == 0 ? 2 : 0;
      EXPECT_EQ(slice.ledger.hits_dropped[kOutOfStep], expected);
    }
    expect_balance(slices, 600);
    EXPECT_EQ(events_of(slices).size(), 100U);
  }
}

TEST(NumberMatch, OtherDefinitionsMatchNoNumbers) {
  NumberedRun run({kTriggered, kTriggered});
  run.add(0, 5, 1);
  run.add(1, 5, 2);
  run.add(0, 7, 1);
  auto settings = run.settings(4);
  settings.events.front().definition = parse_event_definition("gap:0,1", 1000);
  SliceBuilder builder(settings);
  std::vector<Stream> streams;
  std::vector<SourceSlice> sources;
  for (const auto& hits : run.hits) streams.push_back(make_stream(hits, kEpochTicks, 100));
  for (const auto& stream : streams) sources.push_back({{stream.front().bytes}, {}});
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  builder.build({0}, sources, built, problems);
  EXPECT_EQ(events_of(built), (Events{{5, whole({0, 1})}, {7, whole({0})}}));
}

namespace {

/// Matches by the words of the header alone: event by event, all of them in maps.
struct Reference {
  Events events;
  std::uint64_t dropped = 0;
};

/// Removes the sources that disagree with the majority, or with the first; returns how many hits they have.
template <class Says>
std::uint64_t vote_out(std::map<std::uint16_t, std::vector<RefHit>>& parts, Says says) {
  std::map<std::uint32_t, std::vector<std::uint16_t>> votes;
  for (const auto& [source, hits] : parts) {
    if (const auto said = says(source, hits[0])) votes[*said].push_back(source);
  }
  std::size_t most = 0;
  std::uint16_t first = 0xffff;
  std::uint32_t right = 0;
  for (const auto& [said, sources] : votes) {
    if (sources.size() < most || (sources.size() == most && sources.front() > first)) continue;
    most = sources.size();
    first = sources.front();
    right = said;
  }
  std::uint64_t hits = 0;
  for (const auto& [said, sources] : votes) {
    if (said == right) continue;
    for (const auto source : sources) {
      hits += parts[source].size();
      parts.erase(source);
    }
  }
  return hits;
}

Reference reference_of(const NumberedRun& run) {
  std::map<Tick, std::map<std::uint16_t, std::vector<RefHit>>> by_number;
  for (const auto& source : run.hits) {
    for (const auto& hit : source) by_number[hit.time][hit.source].push_back(hit);
  }
  Reference out;
  for (auto& [number, parts] : by_number) {
    out.dropped += vote_out(parts, [&](std::uint16_t source, const RefHit& hit) {
      return (run.flags[source] & kTriggerInPayload) != 0 ? std::optional(hit.payload.at(1) >> 16) : std::nullopt;
    });
    const auto by_tag = vote_out(parts, [&](std::uint16_t source, const RefHit& hit) {
      return tag_word(run.flags[source]) == 3 ? std::optional(hit.payload.at(2) & 0xffU) : std::nullopt;
    });
    out.dropped += by_tag;
    Made made;
    for (std::uint16_t s = 0; s < run.n_sources(); ++s) {
      if (parts.contains(s)) made.sources.insert(made.sources.end(), parts[s].size(), s);
      if (!parts.contains(s) && (run.flags[s] & (kNumbered | kOptional)) == kNumbered)
        made.missing |= std::uint64_t{1} << s;
    }
    made.flags = (made.missing != 0 ? std::uint32_t{kIncomplete} : 0) | (by_tag != 0 ? std::uint32_t{kTagError} : 0);
    out.events[number] = made;
  }
  return out;
}

void expect_like_reference(std::uint64_t seed, bool all_state) {
  std::mt19937_64 random(seed);
  NumberedRun run(std::vector<std::uint32_t>(2 + random() % 5, kTriggered));
  for (auto& flags : run.flags) {
    if (!all_state && random() % 2 == 0) flags = kNumbered;
    if (seed % 2 == 0) flags |= with_tag_word(3);
    if (random() % 8 == 0) flags |= kOptional;
  }
  const auto faults = 1 + random() % 30;
  for (Tick number(random() % 50); number < 600; number += Tick(random() % 20 == 0 ? random() % 90 : 1)) {
    for (std::uint16_t s = 0; s < run.n_sources(); ++s) {
      if (random() % 100 < faults) continue;
      const auto trigger = static_cast<std::uint32_t>(random() % 100 < faults ? random() % 3 : 1);
      const auto tag = static_cast<std::uint32_t>(random() % 100 < faults ? random() % 3 : number.value % 256);
      run.add_tagged(s, number, trigger, tag, static_cast<std::uint32_t>(1 + random() % 3));
    }
  }
  const auto expected = reference_of(run);
  std::uint64_t hits = 0;
  for (const auto& source : run.hits) hits += source.size();
  for (const std::uint64_t length : {1, 3, 10, 1000}) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(length) + " epochs a slice");
    std::vector<BuildProblem> problems;
    const auto slices = run.build(length, problems);
    ASSERT_EQ(events_of(slices), expected.events);
    ASSERT_EQ(out_of_step(slices), expected.dropped);
    std::uint64_t reported = 0;
    for (const auto& problem : problems) reported += problem.damage.n_hits;
    ASSERT_EQ(reported, expected.dropped);
    expect_balance(slices, hits);
  }
}

/// Numbers whose triggers sometimes differ, and losses.
NumberedRun random_run(std::mt19937_64& random) {
  NumberedRun run({kTriggered, kTriggered, kNumbered});
  for (Tick number = 0; number < 300; number += Tick(1 + random() % 3)) {
    for (std::uint16_t s = 0; s < run.n_sources(); ++s) {
      if (random() % 10 != 0)
        run.add(s, number, random() % 10 == 0 ? 2 : 1, static_cast<std::uint32_t>(1 + random() % 2));
    }
  }
  for (Epoch epoch = 0; epoch < 30; epoch += 7)
    run.damage[1].push_back({epoch, Epoch(random() % 3), 0, 4, DropCause::lost});
  return run;
}

std::map<std::pair<std::uint32_t, DropCause>, std::uint64_t> losses_of(const BuiltSlice& slice) {
  std::map<std::pair<std::uint32_t, DropCause>, std::uint64_t> sums;
  for (const auto& loss : slice.losses) sums[{loss.source, loss.cause}] += loss.n_hits;
  return sums;
}

void expect_same(const BuiltSlice& found, const BuiltSlice& wanted) {
  EXPECT_EQ(found.ledger.hits_in, wanted.ledger.hits_in);
  EXPECT_EQ(found.ledger.hits_in_events, wanted.ledger.hits_in_events);
  EXPECT_EQ(found.ledger.hits_outside, wanted.ledger.hits_outside);
  EXPECT_EQ(found.ledger.hits_dropped, wanted.ledger.hits_dropped);
  EXPECT_EQ(found.events.time, wanted.events.time);
  EXPECT_EQ(found.events.flags, wanted.events.flags);
  EXPECT_EQ(found.events.sources_missing, wanted.events.sources_missing);
  EXPECT_EQ(found.hits.channel, wanted.hits.channel);
  EXPECT_EQ(found.hits.payload, wanted.hits.payload);
  EXPECT_EQ(found.sources_missing, wanted.sources_missing);
  EXPECT_EQ(losses_of(found), losses_of(wanted));
}

}  // namespace

// Matching drops hits for one kind of event only, and each kind has its own margin.
TEST(NumberMatch, EachKindOfEventsIsAsIfItWereAlone) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 20 && !testing::Test::HasFailure(); ++n) {
    const auto run = random_run(random);
    auto settings = run.settings(1 + random() % 5);
    settings.events = {{parse_event_definition("gap:1,3", 1000), 40},
                       {parse_event_definition("tag", 1000), 25},
                       {parse_event_definition("multiplicity:4,5,1,1", 1000), 90}};
    std::vector<BuildProblem> problems;
    const auto together = run.build_all(settings, problems);
    for (std::size_t kind = 0; kind < settings.events.size(); ++kind) {
      auto alone = settings;
      alone.events = {settings.events[kind]};
      const auto wanted = run.build_all(alone, problems);
      ASSERT_EQ(together.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) expect_same(together[i][kind], wanted[i].front());
    }
  }
}

TEST(NumberMatch, RandomRunsAreMatchedLikeByTheReference) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) expect_like_reference(seed, true);
}

TEST(NumberMatch, RandomRunsWithSomeTriggersMissingAreMatchedAsByTheReference) {
  for (std::uint64_t seed = 101; seed <= 160; ++seed) expect_like_reference(seed, false);
}

}  // namespace eventloom::test
