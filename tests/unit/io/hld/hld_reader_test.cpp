#include "io/hld/hld_reader.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "hld_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
using Words = std::vector<std::uint32_t>;

std::unique_ptr<HitReader> open(const std::vector<std::string>& paths, const std::string& query = "",
                                const TimeBase& base = {}) {
  const auto uri = SourceUri::parse("hld:" + paths.at(0) + (query.empty() ? "" : "?" + query));
  return open_hld(uri, paths, {3}, base);
}

/// All blocks of a reader combined.
struct Read {
  HitBlock all;
  std::size_t blocks = 0;
  std::uint64_t anomalies = 0;
  CountsByName counts;

  [[nodiscard]] Words payload_of(std::size_t i) const {
    const auto words = all.payload_of(i);
    return {words.begin(), words.end()};
  }
};

void join(HitBlock& all, const HitBlock& block) {
  for (auto loss : block.losses) {
    EXPECT_LE(loss.before, block.size());
    loss.before += all.size();
    EXPECT_GE(loss.before, all.losses.empty() ? 0 : all.losses.back().before);
    all.losses.push_back(loss);
  }
  for (const auto begin : block.payload_begin) {
    all.payload_begin.push_back(begin + static_cast<std::uint32_t>(all.payload.size()));
  }
  all.time.insert(all.time.end(), block.time.begin(), block.time.end());
  all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
  all.payload.insert(all.payload.end(), block.payload.begin(), block.payload.end());
}

Read read_all(HitReader& reader) {
  Read read;
  HitBlock block;
  while (reader.read(block)) {
    join(read.all, block);
    ++read.blocks;
  }
  EXPECT_FALSE(reader.read(block));
  read.anomalies = reader.anomalies();
  read.counts = reader.counts().by_name();
  return read;
}

Read read_bytes(const Bytes& bytes, const std::string& query = "", const TimeBase& base = {}) {
  const TemporaryFile file(bytes);
  const auto reader = open({file.path()}, query, base);
  return read_all(*reader);
}

using Times = std::vector<Tick>;

/// "duplicate:1 before 2" for each loss: cause, hits, place.
std::vector<std::string> losses_of(const Read& read) {
  std::vector<std::string> texts;
  for (const auto& loss : read.all.losses) {
    texts.push_back(std::string(kDropCauseNames[static_cast<std::size_t>(loss.cause)]) + ":" +
                    std::to_string(loss.hits) + " before " + std::to_string(loss.before));
  }
  return texts;
}
using Texts = std::vector<std::string>;

TEST(HldReader, EachSubeventIsAHit) {
  Bytes bytes = begin_run();
  append(bytes,
         event({.number = 5, .id = 0x8000200d},
               {subevent({.id = 0xf0008010, .words = {7, 8, 9}, .decoding = 0x000200d1, .trigger_number = 0x123}),
                subevent({.id = 0x8020, .words = {}, .big_endian = false})}));
  append(bytes, event({.number = 6}));
  append(bytes, end_run());
  const auto read = read_bytes(bytes);
  EXPECT_EQ(read.all.time, (Times{5, 5, 6}));
  EXPECT_EQ(read.all.channel, (Words{0x00008010, 0x8020, 0x0fffffff}));
  EXPECT_EQ(read.payload_of(0), (Words{10, 13U << 16 | 1, 0x8000200d, 5, 28, 0x000200d1, 0xf0008010, 0x123, 7, 8, 9}));
  EXPECT_EQ(read.payload_of(1), (Words{7, 13U << 16 | 2, 0x8000200d, 5, 16, 0x00020011, 0x8020, 0}));
  EXPECT_EQ(read.payload_of(2), (Words{3, 1U << 16, 0x2001, 6}));
  EXPECT_TRUE(read.all.losses.empty());
  EXPECT_EQ(read.anomalies, 0U);
  const CountsByName expected = {{"events", 2},
                                 {"run_events", 2},
                                 {"empty_events", 1},
                                 {"events_with_error_bit", 1},
                                 {"subevents", 2},
                                 {"subevents_with_error_bit", 1},
                                 {"padded_subevents", 1},
                                 {"trigger_1", 1},
                                 {"trigger_13", 1},
                                 {"first_number", 5},
                                 {"last_number", 6},
                                 {"missing_numbers", 0},
                                 {"duplicate_numbers", 0},
                                 {"repeated_incomplete", 0},
                                 {"out_of_step", 0}};
  EXPECT_EQ(read.counts, expected);
}

TEST(HldReader, HeaderSaysWhatTheWordsAre) {
  const TemporaryFile file(plain_event(1));
  const TimeBase base{.tick_ps = 500, .epoch_ticks = 16};
  const auto reader = open({file.path()}, "", base);
  const auto& header = reader->header();
  EXPECT_EQ(header.source, 3U);
  EXPECT_EQ(header.base, base);
  EXPECT_EQ(header.payload, PayloadTable::uniform(PayloadTable::kLengthInFirstWord));
  EXPECT_EQ(header.flags, kNumbered | kTriggerInPayload);
  EXPECT_NE(header.text.find("hld:" + file.path()), std::string::npos);
  EXPECT_NE(header.text.find("trigger type << 16"), std::string::npos);
  EXPECT_EQ(reader->name(), file.path());
  EXPECT_EQ(reader->input().bytes, 56U);
  EXPECT_EQ(open({file.path()}, "tdc")->header().flags, kNumbered);
  EXPECT_EQ(open({file.path()}, "tdc&time=tdc")->header().flags, 0U);
  EXPECT_EQ(open({file.path()}, "tdc")->header().payload, PayloadTable::uniform(3));
}

TEST(HldReader, OddLengthsAreFilledUpWithZeros) {
  Bytes sub;
  for (const auto word : {16U + 5U, 0x00010011U, 0x8000U, 0U}) put(sub, word, true);
  append(sub, {1, 2, 3, 4, 5});
  pad(sub);
  const auto read = read_bytes(event({}, {sub}));
  EXPECT_EQ(read.payload_of(0), (Words{9, 1U << 16 | 1, 0x2001, 1, 21, 0x00010011, 0x8000, 0, 0x03040102, 5}));
}

TEST(HldReader, NumbersWrapAround) {
  const auto read = read_bytes(plain_events({0xfffffffe, 0xffffffff, 0, 1}));
  EXPECT_EQ(read.all.time, (Times{Tick(0xfffffffe), Tick(0xffffffff), Tick(0x100000000), Tick(0x100000001)}));
  EXPECT_EQ(read.payload_of(3)[3], 1U);
}

/// Numbers in either byte order; an event whose subevents lack the word is dropped.
TEST(HldReader, NumbersInTheData) {
  Bytes bytes;
  for (const std::uint32_t n : {0xfffeU, 0xffffU, 0x10000U, 0x10001U}) {
    const auto other = subevent({.id = 0x8010, .words = {5, 5}});
    const auto shorts = subevent({.id = 0x8020, .words = {9, 9}, .decoding = 0x00010011});
    append(bytes, event({.number = 1},
                        {other, shorts, subevent({.id = 0x8020, .words = {0, n << 8 | 3}, .big_endian = n % 2 == 0})}));
  }
  append(bytes, event({.number = 1}, {subevent({.id = 0x8020, .words = {0}})}));
  const auto read = read_bytes(bytes, "number=word:1:8-23&from=8020");
  EXPECT_EQ(read.all.time, (Times{0xfffe, 0xfffe, 0xfffe, 0xffff, 0xffff, 0xffff, 0x10000, 0x10000, 0x10000, 0x10001,
                                  0x10001, 0x10001}));
  EXPECT_EQ(losses_of(read), (Texts{"untimed:1 before 12"}));
  EXPECT_EQ(read.counts.at("untimed_events"), 1U);
  for (const auto* query : {"number=5", "number=word:0&bits=24", "from=8020", "number=word:0&from=x",
                            "number=word:0:0-14", "tdc&time=tdc&number=word:0"}) {
    EXPECT_THROW(read_bytes(bytes, query), UserError) << query;
  }
}

TEST(HldReader, WrongNumbersGo) {
  const auto read = read_bytes(plain_events({1, 2, 2, 900000, 3, 1, 4, 6}));
  EXPECT_EQ(read.all.time, (Times{1, 2, 3, 4, 6}));
  EXPECT_EQ(losses_of(read), (Texts{"duplicate:1 before 2", "out_of_step:1 before 2", "duplicate:1 before 3"}));
  EXPECT_EQ(read.counts.at("missing_numbers"), 1U);
  EXPECT_EQ(read.counts.at("events"), 8U);
  EXPECT_EQ(read.all.losses[1].offset, 3U * 56);
  for (std::size_t i = 0; i < read.all.size(); ++i) EXPECT_EQ(read.payload_of(i)[8], read.all.time[i].value);
}

TEST(HldReader, TheUnfinishedFirstCopyOfAnEventGoes) {
  const auto a = subevent({.id = 0x8000, .words = {1}});
  const auto b = subevent({.id = 0x8010, .words = {2}});
  Bytes bytes = plain_event(1);
  append(bytes, event({.number = 2}, {a}));
  append(bytes, event({.number = 2}, {a, b}));
  append(bytes, event({.number = 3}, {b}));
  append(bytes, event({.number = 3}, {a, b}));  // not a copy of the previous one
  append(bytes, event({.number = 4}));
  append(bytes, event({.number = 4}, {a}));
  const auto read = read_bytes(bytes);
  EXPECT_EQ(read.all.time, (Times{1, 2, 2, 3, 4}));
  EXPECT_EQ(losses_of(read),
            (Texts{"repeated_incomplete:1 before 1", "duplicate:2 before 4", "repeated_incomplete:1 before 4"}));
}

TEST(HldReader, LossesAfterADroppedEventStayInOrder) {
  auto broken = plain_event(901);
  overwrite(broken, 32, 5, true);
  Bytes bytes = plain_events({1, 900});
  append(bytes, broken);
  append(bytes, plain_events({2, 3}));
  const auto read = read_bytes(bytes);
  EXPECT_EQ(read.all.time, (Times{1, 2, 3}));
  EXPECT_EQ(losses_of(read), (Texts{"out_of_step:1 before 1", "corrupt:1 before 1"}));
}

TEST(HldReader, TheLastEventIsTakenBackAfterAWildJump) {
  const auto read = read_bytes(plain_events({1, 2, 90000}));
  EXPECT_EQ(read.all.time, (Times{1, 2}));
  EXPECT_EQ(losses_of(read), (Texts{"out_of_step:1 before 2"}));
}

/// Blocks end between events, and wherever they end, no event is lost or taken back too late.
TEST(HldReader, BlocksEndOnlyWhereTheLastEventIsSure) {
  const std::uint32_t n = 3000;
  for (std::uint32_t at = 0; at < 60; ++at) {
    Bytes bytes;
    for (std::uint32_t i = 0; i < n; ++i) {
      append(bytes, event({.number = i}, {subevent({.words = Words(200, i)})}));
      if (i % 60 == at) append(bytes, plain_event(i + 100000));  // dropped once the next one is known
      if (i % 60 == at) append(bytes, plain_event(i));           // goes at once
    }
    const auto read = read_bytes(bytes);
    EXPECT_GT(read.blocks, 10U);
    ASSERT_EQ(read.all.size(), n);
    for (std::uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(read.all.time[i], Tick(i));
      ASSERT_EQ(read.payload_of(i).back(), i);
    }
    ASSERT_EQ(read.all.losses.size(), std::size_t{n} / 30);
  }
}

TEST(HldReader, DamageIsALoss) {
  auto bytes = plain_events({1, 2, 3, 4, 5, 6});
  overwrite(bytes, 56 + 32, 5, true);
  overwrite(bytes, std::size_t{3} * 56, 5);
  bytes.resize(bytes.size() + 40, 1);
  const auto read = read_bytes(bytes);
  EXPECT_EQ(read.all.time, (Times{1, 3, 5, 6}));
  ASSERT_EQ(losses_of(read), (Texts{"corrupt:1 before 1", "corrupt:0 before 2", "corrupt:0 before 4"}));
  EXPECT_EQ(read.all.losses[0].offset, 56U);
  EXPECT_EQ(read.all.losses[1].offset, 3U * 56);
  EXPECT_TRUE(read.all.losses[1].leaves_hole);
  EXPECT_FALSE(read.all.losses[1].breaks_off);
  EXPECT_EQ(read.all.losses[2].offset, 6U * 56);
  EXPECT_TRUE(read.all.losses[2].breaks_off);
  EXPECT_EQ(read.counts.at("missing_numbers"), 2U);
}

TEST(HldReader, NothingButDamageIsABlockWithoutHits) {
  auto bytes = plain_event(1);
  bytes.resize(50);
  const TemporaryFile file(bytes);
  const auto reader = open({file.path()});
  HitBlock block;
  ASSERT_TRUE(reader->read(block));
  EXPECT_EQ(block.size(), 0U);
  ASSERT_EQ(block.losses.size(), 1U);
  EXPECT_TRUE(block.losses[0].breaks_off);
  EXPECT_FALSE(reader->read(block));
}

TEST(HldReader, LossesDoNotGrowWithTheFile) {
  const auto read = read_bytes(plain_events(Words(50000, 7)));
  EXPECT_EQ(read.all.size(), 1U);
  EXPECT_LE(read.all.losses.size(), 5000U);
  std::uint64_t hits = 0;
  for (const auto& loss : read.all.losses) hits += loss.hits;
  EXPECT_EQ(hits, 49999U);
}

TEST(HldReader, SeveralFilesAreOne) {
  auto cut = plain_events({4, 5, 6});
  cut.erase(cut.end() - 8, cut.end());
  const TemporaryFile first(plain_events({1, 2, 3}));
  const TemporaryFile second(cut);
  const TemporaryFile third(plain_events({7, 8}));
  const auto reader = open({first.path(), second.path(), third.path()}, "concat");
  EXPECT_EQ(reader->input().bytes, 8U * 56 - 8);
  const auto read = read_all(*reader);
  EXPECT_EQ(read.all.time, (Times{1, 2, 3, 4, 5, 7, 8}));
  ASSERT_EQ(read.all.losses.size(), 1U);
  EXPECT_EQ(read.all.losses[0].before, 5U);
  EXPECT_EQ(read.all.losses[0].offset, 2U * 56);
  EXPECT_TRUE(read.all.losses[0].leaves_hole);
  EXPECT_FALSE(read.all.losses[0].breaks_off);
  EXPECT_EQ(read.counts.at("events"), 7U);
}

TEST(HldReader, AMissingFileShowsAtOnce) {
  const TemporaryFile first(plain_event(1));
  EXPECT_THROW(open({first.path(), first.path() + ".none"}, "concat"), UserError);
}

// Times of TDCs

Words tdc(std::uint32_t address, const Words& words) {
  Words block = {static_cast<std::uint32_t>(words.size()) << 16 | address};
  block.insert(block.end(), words.begin(), words.end());
  return block;
}

constexpr std::uint32_t kHeader = 0x20000000;
constexpr std::uint32_t kEpoch = 0x60000000;
constexpr std::uint32_t kTime = 0x80000000;

std::uint32_t time_word(std::uint32_t channel, std::uint32_t coarse) { return kTime | channel << 22 | coarse; }

Bytes tdc_event(std::uint32_t number, const Words& data, bool big_endian = true) {
  return event({.number = number}, {subevent({.words = data, .big_endian = big_endian})});
}

TEST(HldReaderTdc, EachTimeIsAHit) {
  for (const bool big_endian : {false, true}) {
    auto bytes =
        tdc_event(9, tdc(0xe001, {kHeader, kEpoch | 3, time_word(5, 7), kEpoch | 4, time_word(127, 2047)}), big_endian);
    append(bytes, tdc_event(10, tdc(0x8000, {0x2006f0b7, 0, 0x80000001}), big_endian));
    append(bytes, tdc_event(11, tdc(0xe002, {kHeader, kEpoch | 5, time_word(0, 1)}), big_endian));
    const auto read = read_bytes(bytes, "tdc");
    EXPECT_EQ(read.all.time, (Times{9, 9, 11}));
    EXPECT_EQ(read.all.channel, (Words{0xe00105, 0xe0017f, 0xe00200}));
    EXPECT_EQ(read.payload_of(0), (Words{time_word(5, 7), 3, 9}));
    EXPECT_EQ(read.payload_of(1), (Words{time_word(127, 2047), 4, 9}));
    EXPECT_EQ(read.payload_of(2), (Words{time_word(0, 1), 5, 11}));
    EXPECT_EQ(read.counts.at("tdc_hits"), 3U);
    EXPECT_EQ(read.counts.at("events"), 3U);

    const auto by_clock = read_bytes(bytes, "tdc&time=tdc");
    EXPECT_EQ(by_clock.all.time, (Times{30755, 51195, 51205}));
    EXPECT_EQ(by_clock.all.payload, read.all.payload);
    EXPECT_EQ(by_clock.counts.count("first_number"), 0U);
    EXPECT_EQ(read_bytes(bytes, "tdc=0xe002").all.channel, (Words{0xe00200}));
    EXPECT_EQ(read_bytes(bytes, "tdc=no").all.channel, (Words{0x8000, 0x8000, 0x8000}));
  }
}

TEST(HldReaderTdc, EventsThatGoTakeTheirTimesWithThem) {
  const auto data = tdc(0xe000, {kHeader, kEpoch | 1, time_word(1, 1), time_word(2, 2)});
  auto bytes = tdc_event(1, data);
  for (const std::uint32_t number : {2U, 2U, 90000U, 3U}) append(bytes, tdc_event(number, data));
  const auto read = read_bytes(bytes, "tdc");
  EXPECT_EQ(read.all.time, (Times{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(losses_of(read), (Texts{"duplicate:2 before 4", "out_of_step:2 before 4"}));
  EXPECT_EQ(read_bytes(bytes, "tdc&time=tdc").all.size(), 10U);
}

TEST(HldReaderTdc, DamagedTimesAreLosses) {
  auto data = tdc(0xe000, {kHeader, time_word(1, 1), kEpoch | 1, time_word(2, 2)});
  const auto cut = tdc(0xe000, {kHeader, kEpoch | 1, time_word(3, 3), time_word(4, 4)});
  data.insert(data.end(), cut.begin(), cut.end());
  data[5] += 1U << 16;  // one word more than exists
  const auto read = read_bytes(tdc_event(1, data), "tdc");
  EXPECT_EQ(read.all.channel, (Words{0xe00002}));
  EXPECT_EQ(losses_of(read), (Texts{"corrupt:1 before 0", "corrupt:2 before 1"}));
  EXPECT_EQ(read.all.losses[0].offset, 32U + 16 + 8);
  EXPECT_EQ(read.all.losses[1].offset, 32U + 16 + 20);
  EXPECT_EQ(read.anomalies, 0U);
  const auto unknown = read_bytes(tdc_event(1, tdc(0xe000, {kHeader, 1, kEpoch, time_word(1, 1)})), "tdc=0xe000");
  EXPECT_EQ(unknown.all.size(), 1U);
  EXPECT_EQ(unknown.anomalies, 1U);
}

TEST(HldReaderTdc, TimesContinueWhereTheEpochCounterWraps) {
  auto bytes = tdc_event(1, tdc(0xe000, {kHeader, kEpoch | 0x0fffffff, time_word(1, 0)}));
  append(bytes, tdc_event(1, tdc(0xe000, {kHeader, kEpoch | 0, time_word(1, 0)})));
  const TimeBase base{.tick_ps = 5000};
  EXPECT_EQ(read_bytes(bytes, "tdc&time=tdc", base).all.time,
            (Times{Tick(std::uint64_t{0x0fffffff} << 11), Tick(std::uint64_t{0x10000000} << 11)}));
}

TEST(HldReaderTdc, WordsOfOtherLengthsAreNoTimes) {
  const auto bytes = event({}, {subevent({.words = tdc(0xe000, {kHeader, kEpoch, kTime}), .decoding = 0x00010011})});
  EXPECT_EQ(read_bytes(bytes, "tdc").all.size(), 0U);
}

TEST(HldReaderTdc, ManyTimesComeInManyBlocks) {
  Words words = {kHeader, kEpoch | 1};
  for (std::uint32_t i = 0; i < 1000; ++i) words.push_back(time_word(i % 128, i));
  Bytes bytes;
  for (std::uint32_t i = 1; i <= 100; ++i) append(bytes, tdc_event(i, tdc(0xe000, words)));
  for (const auto* query : {"tdc", "tdc&time=tdc"}) {
    const auto read = read_bytes(bytes, query);
    EXPECT_EQ(read.all.size(), 100000U);
    EXPECT_GT(read.blocks, 5U);
  }
}

// Keys written by the user

TEST(HldReader, KeysThatMakeNoSense) {
  const TemporaryFile file(plain_event(1));
  for (const auto* query : {"time=noon", "time=tdc", "tdc=e000", "unit=ns", "tdc=0x10000", "tdc=0x2-0x1"}) {
    EXPECT_THROW(open({file.path()}, query), UserError) << query;
  }
  EXPECT_THROW(open({file.path()}, "tdc&time=tdc", {.tick_ps = 3000}), UserError);
  EXPECT_NO_THROW(open({file.path()}, "tdc&time=tag&unit=tick&reorder=10&concat"));
}

}  // namespace
}  // namespace eventloom
