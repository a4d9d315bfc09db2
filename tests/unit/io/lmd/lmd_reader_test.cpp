#include "io/lmd/lmd_reader.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/file_checksum.hpp"
#include "lmd_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
using Ticks = std::vector<Tick>;

std::unique_ptr<HitReader> open(const std::vector<std::string>& paths, const std::string& query = "",
                                const TimeBase& base = {}) {
  const auto uri = SourceUri::parse("lmd:" + paths.at(0) + (query.empty() ? "" : "?" + query));
  return open_lmd(uri, paths, SourceId{3}, base);
}

/// All blocks of a reader combined.
struct Read {
  HitBlock all;
  std::size_t blocks = 0;
  std::uint64_t anomalies = 0;
  CountsByName counts;

  [[nodiscard]] Words payload(std::size_t i) const {
    const auto words = all.payload_of(i);
    return {words.begin(), words.end()};
  }
  /// The event numbers of the hits; equal numbers in a row count once.
  [[nodiscard]] Words numbers() const {
    Words numbers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (numbers.empty() || numbers.back() != all.payload_of(i)[2]) numbers.push_back(all.payload_of(i)[2]);
    }
    return numbers;
  }
};

Read read(HitReader& reader) {
  Read result;
  HitBlock block;
  auto& all = result.all;
  while (reader.read(block)) {
    ++result.blocks;
    for (auto loss : block.losses) {
      EXPECT_LE(loss.before, block.size());
      loss.before += all.size();
      all.losses.push_back(loss);
    }
    for (const auto begin : block.payload_begin) {
      all.payload_begin.push_back(static_cast<std::uint32_t>(begin + all.payload.size()));
    }
    all.time.insert(all.time.end(), block.time.begin(), block.time.end());
    all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
    all.payload.insert(all.payload.end(), block.payload.begin(), block.payload.end());
  }
  EXPECT_FALSE(reader.read(block));
  result.anomalies = reader.anomalies();
  result.counts = reader.counts().by_name();
  return result;
}

Read read(const std::string& path, const std::string& query = "", const TimeBase& base = {}) {
  return read(*open({path}, query, base));
}

class LmdReading : public LmdTest {
 protected:
  /// The file that holds `events`.
  [[nodiscard]] std::string flat(const std::string& events, const std::string& name = "made.lmd") const {
    return write(flat_header() + events, name);
  }
};

TEST_F(LmdReading, SubeventsBecomeHits) {
  const auto odd = Bytes().u32(5).u16(11).u16(22).u16(0xfedc).u8(7).u8(63).u32(0x01020304).u16(0xbeef).text();
  const auto read_back = read(flat(event(5, subevent(0x0203abcd, {8, 9}, 12, 34) + odd, 14, 0x55)));
  const auto& hits = read_back.all;
  EXPECT_EQ(hits.time, (Ticks{5, 5}));
  EXPECT_EQ(hits.channel, (Words{2U << 22 | 3U << 16 | 0xabcd, 63U << 22 | 7U << 16 | 0xfedc}));
  EXPECT_EQ(read_back.payload(0), (Words{7, 14U << 16 | 0x55, 5, 6, 34U << 16 | 12, 0x0203abcd, 8, 9}));
  EXPECT_EQ(read_back.payload(1), (Words{7, 14U << 16 | 0x55, 5, 5, 22U << 16 | 11, 0x3f07fedc, 0x01020304, 0xbeef}));
}

TEST_F(LmdReading, EventWithoutSubeventsIsAHit) {
  const auto result = read(flat(event(9, "", 12, 3) + plain_event(10)));
  EXPECT_EQ(result.all.channel[0], 0x0fffffffU);
  EXPECT_EQ(result.payload(0), (Words{2, 12U << 16 | 3, 9}));
  EXPECT_EQ(result.all.size(), 3U);
  EXPECT_EQ(result.counts.at("empty_events"), 1U);
}

TEST_F(LmdReading, LargeControlsAndCratesAreFoldedAndCounted) {
  const auto result = read(flat(event(1, subevent(0xff400001, {}) + subevent(0x3f3f0001, {}))));
  EXPECT_EQ(result.all.channel, (Words{63U << 22 | 1, 63U << 22 | 63U << 16 | 1}));
  EXPECT_EQ(result.payload(0)[5], 0xff400001U) << "the payload has the whole id";
  EXPECT_EQ(result.counts.at("folded_ids"), 1U);
}

TEST_F(LmdReading, HeaderOfTheStream) {
  const auto path = flat(plain_event(1));
  const auto tag = open({path});
  EXPECT_EQ(tag->name(), path);
  EXPECT_EQ(tag->header().source, 3U);
  EXPECT_EQ(tag->header().flags, kNumbered | kTriggerInPayload);
  EXPECT_EQ(tag->header().payload, PayloadTable::uniform(PayloadTable::kLengthInFirstWord));
  EXPECT_NE(tag->header().text.find("lmd:" + path), std::string::npos);
  EXPECT_NE(tag->header().text.find("(control & 0x3f) << 22"), std::string::npos);
  EXPECT_EQ(open({path}, "time=wr")->header().flags, kTriggerInPayload);
  EXPECT_EQ(open({path}, "time=word:0,1")->header().flags, kTriggerInPayload);
  EXPECT_EQ(tag->input().crc32c, describe_file(path).crc32c);
  EXPECT_EQ(tag->input().bytes, 48 + plain_event(1).size());
}

TEST_F(LmdReading, CountsAreOfWhatIsInTheFile) {
  const auto events = plain_event(1, 14) + plain_event(2) + plain_event(2) + element(11, 1, "") + plain_event(4, 300);
  const auto counts = read(flat(events)).counts;
  EXPECT_EQ(counts.at("events"), 4U);
  EXPECT_EQ(counts.at("subevents"), 8U);
  EXPECT_EQ(counts.at("skipped_elements"), 1U);
  EXPECT_EQ(counts.at("trigger_1"), 2U);
  EXPECT_EQ(counts.at("trigger_14"), 1U);
  EXPECT_EQ(counts.at("trigger_other"), 1U);
  EXPECT_EQ(counts.at("duplicate_numbers"), 1U);
  EXPECT_EQ(counts.at("missing_numbers"), 1U);
}

// ---------------------------------------------------------------- numbers

TEST_F(LmdReading, NumbersAreUnwrapped) {
  const auto result = read(flat(plain_event(0xfffffffe) + plain_event(0xffffffff) + plain_event(0) + plain_event(2)));
  EXPECT_EQ(result.all.time, (Ticks{Tick(0xfffffffe), Tick(0xfffffffe), Tick(0xffffffff), Tick(0xffffffff),
                                    Tick(0x100000000), Tick(0x100000000), Tick(0x100000002), Tick(0x100000002)}));
  EXPECT_EQ(result.counts.at("missing_numbers"), 1U);
}

TEST_F(LmdReading, UnfinishedCopyGoes) {
  const auto half = event(2, subevent(0x01020003, {2, 5}));
  const auto result = read(flat(plain_event(1) + half + plain_event(2) + plain_event(3)));
  EXPECT_EQ(result.all.time, (Ticks{1, 1, 2, 2, 3, 3}));
  ASSERT_EQ(result.all.losses.size(), 1U);
  const auto& loss = result.all.losses[0];
  EXPECT_EQ(loss.cause, DropCause::repeated_incomplete);
  EXPECT_EQ(loss.hits, 1U);
  EXPECT_EQ(loss.before, 2U);
  EXPECT_EQ(loss.offset, 48 + plain_event(1).size());
}

TEST_F(LmdReading, EmptyCopyGoes) {
  const auto result = read(flat(plain_event(1) + event(2, "") + plain_event(2)));
  EXPECT_EQ(result.all.time, (Ticks{1, 1, 2, 2}));
  ASSERT_EQ(result.all.losses.size(), 1U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::repeated_incomplete);
}

TEST_F(LmdReading, EqualOrOtherSubeventsAreADuplicate) {
  const auto other = event(2, subevent(9, {}) + subevent(10, {}) + subevent(11, {}));
  const auto result = read(flat(plain_event(1) + plain_event(2) + plain_event(2) + other + plain_event(3)));
  EXPECT_EQ(result.all.time, (Ticks{1, 1, 2, 2, 3, 3}));
  ASSERT_EQ(result.all.losses.size(), 2U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::duplicate);
  EXPECT_EQ(result.all.losses[0].hits, 2U);
  EXPECT_EQ(result.all.losses[1].hits, 3U);
  EXPECT_EQ(result.all.losses[1].before, 4U);
}

TEST_F(LmdReading, JumpThatIsNotConfirmedGoes) {
  const auto result = read(flat(plain_event(1) + plain_event(900000) + plain_event(2) + plain_event(3)));
  EXPECT_EQ(result.numbers(), (Words{1, 2, 3}));
  ASSERT_EQ(result.all.losses.size(), 1U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::out_of_step);
  EXPECT_EQ(result.all.losses[0].before, 2U);
}

TEST_F(LmdReading, LastEventThatJumpsFarGoes) {
  const auto result = read(flat(plain_event(1) + plain_event(2) + plain_event(5000)));
  EXPECT_EQ(result.numbers(), (Words{1, 2}));
  ASSERT_EQ(result.all.losses.size(), 1U);
  EXPECT_EQ(result.all.losses[0].before, 4U);
}

TEST_F(LmdReading, LossesAfterADroppedEventMoveWithIt) {
  // Damage lies between the unfinished copy and the whole event.
  auto bad = plain_event(2);
  bad[16] = 9;
  const auto half = event(2, subevent(0x01020003, {2, 5}));
  const auto result = read(flat(plain_event(1) + half + bad + plain_event(2) + plain_event(3)));
  EXPECT_EQ(result.numbers(), (Words{1, 2, 3}));
  ASSERT_EQ(result.all.losses.size(), 2U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::repeated_incomplete);
  EXPECT_EQ(result.all.losses[1].cause, DropCause::corrupt);
  EXPECT_EQ(result.all.losses[0].before, 2U);
  EXPECT_EQ(result.all.losses[1].before, 2U);
}

/// An event so large that a block ends at nearly every one.
std::string big_event(std::uint32_t number, std::size_t subevents) {
  std::string subs;
  for (std::uint32_t i = 0; i < subevents; ++i) subs += subevent(i, Words(20000, number));
  return event(number, subs);
}

TEST_F(LmdReading, AnEventGoesThoughItFilledItsBlock) {
  const auto events =
      big_event(1, 2) + big_event(2, 2) + big_event(2, 3) + big_event(900000, 2) + big_event(3, 2) + big_event(4, 2);
  const auto result = read(flat(events));
  EXPECT_GT(result.blocks, 3U);
  EXPECT_EQ(result.all.time, (Ticks{1, 1, 2, 2, 2, 3, 3, 4, 4}));
  ASSERT_EQ(result.all.losses.size(), 2U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::repeated_incomplete);
  EXPECT_EQ(result.all.losses[0].before, 2U);
  EXPECT_EQ(result.all.losses[1].cause, DropCause::out_of_step);
  EXPECT_EQ(result.all.losses[1].before, 5U);
  for (std::size_t i = 0; i < result.all.size(); ++i) {
    EXPECT_EQ(result.payload(i).size(), 20006U);
    EXPECT_EQ(result.payload(i)[6], result.payload(i)[2]);
  }
}

TEST_F(LmdReading, ACopyIsNotSoughtAfterADroppedEvent) {
  // 900000 is dropped when 2 comes again, which then duplicates the kept 2, although 2 is no longer the last.
  const auto longer = event(2, subevent(0x01020003, {2, 5}) + subevent(0x04, {2}) + subevent(0x05, {}));
  const auto result =
      read(flat(plain_event(1) + plain_event(2) + plain_event(900000) + longer + longer + plain_event(3)));
  EXPECT_EQ(result.numbers(), (Words{1, 2, 3}));
  std::uint64_t lost = 0;
  for (const auto& loss : result.all.losses) lost += loss.hits;
  EXPECT_EQ(lost, 2U + 3 + 3);
}

TEST_F(LmdReading, MemoryDoesNotGrowWithLosses) {
  std::string events = plain_event(1);
  for (int i = 0; i < 30000; ++i) events += plain_event(1);
  const auto reader = open({flat(events + plain_event(2))});
  HitBlock block;
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;
  while (reader->read(block)) {
    EXPECT_LE(block.losses.size(), 5000U);
    hits += block.size();
    for (const auto& loss : block.losses) lost += loss.hits;
  }
  EXPECT_EQ(hits, 4U);
  EXPECT_EQ(lost, 60000U);
}

// ---------------------------------------------------------------- several files

TEST_F(LmdReading, NumbersContinueFromFileToFile) {
  const auto half = event(3, subevent(0x01020003, {3, 5}));
  const auto one = flat(plain_event(1) + plain_event(2) + half, "1.lmd");
  const auto two = write(classic_header() + buffer({}, plain_event(3) + plain_event(4)), "2.lmd");
  const auto three = flat(plain_event(4) + plain_event(5), "3.lmd");
  const auto reader = open({one, two, three}, "concat");
  const auto result = read(*reader);
  EXPECT_EQ(result.numbers(), (Words{1, 2, 3, 4, 5}));
  ASSERT_EQ(result.all.losses.size(), 2U);
  EXPECT_EQ(result.all.losses[0].cause, DropCause::repeated_incomplete);
  EXPECT_EQ(result.all.losses[1].cause, DropCause::duplicate);
  EXPECT_EQ(result.counts.at("events"), 7U);
  EXPECT_EQ(result.counts.at("buffers"), 1U);
  const auto whole =
      std::filesystem::file_size(one) + std::filesystem::file_size(two) + std::filesystem::file_size(three);
  EXPECT_EQ(reader->input().bytes, whole);
  EXPECT_NE(reader->input().crc32c, open({one, three, two}, "concat")->input().crc32c);
}

TEST_F(LmdReading, AFileThatBreaksOffLeavesAHoleBeforeTheNext) {
  const auto one = flat(plain_event(1) + plain_event(2).substr(0, 40), "1.lmd");
  const auto two = flat(plain_event(3) + plain_event(4).substr(0, 40), "2.lmd");
  const auto result = read(*open({one, two}, "concat"));
  EXPECT_EQ(result.numbers(), (Words{1, 3}));
  ASSERT_EQ(result.all.losses.size(), 2U);
  EXPECT_TRUE(result.all.losses[0].leaves_hole);
  EXPECT_FALSE(result.all.losses[0].breaks_off);
  EXPECT_TRUE(result.all.losses[1].breaks_off);
}

TEST_F(LmdReading, EveryFileIsLookedAtWhenTheSourceIsOpened) {
  const auto one = flat(plain_event(1), "1.lmd");
  EXPECT_THROW((void)open({one, path("none.lmd")}, "concat"), UserError);
  EXPECT_THROW((void)open({one, write(std::string(100, 'x'), "text.lmd")}, "concat"), UserError);
  EXPECT_THROW((void)open_lmd(SourceUri::parse("lmd:x.lmd"), {}, SourceId{0}, {}), UserError);
}

// ---------------------------------------------------------------- damage

TEST_F(LmdReading, DamageIsALossWithItsPlace) {
  const auto bad = event(2, subevent(1, {2, 7}), 1, 0, 0x7fffffff);
  const auto result = read(flat(plain_event(1) + bad + plain_event(3)));
  ASSERT_EQ(result.all.losses.size(), 1U);
  const auto& loss = result.all.losses[0];
  EXPECT_EQ(loss.cause, DropCause::corrupt);
  EXPECT_EQ(loss.offset, 48 + plain_event(1).size());
  EXPECT_EQ(loss.before, 2U);
  EXPECT_TRUE(loss.leaves_hole);
}

TEST_F(LmdReading, DamageOfTheIndexIsAnAnomaly) {
  const auto result = read(write(flat_header(1000) + plain_event(1)));
  EXPECT_EQ(result.anomalies, 1U);
  EXPECT_TRUE(result.all.losses.empty());
}

TEST_F(LmdReading, AFileOfNothingButDamageGivesItsLoss) {
  const auto result = read(flat(plain_event(1).substr(0, 30)));
  EXPECT_EQ(result.all.size(), 0U);
  ASSERT_EQ(result.all.losses.size(), 1U);
  EXPECT_TRUE(result.all.losses[0].breaks_off);
  EXPECT_EQ(result.all.losses[0].hits, 1U);
}

TEST_F(LmdReading, EmptyFile) {
  const auto result = read(flat(""));
  EXPECT_EQ(result.blocks, 0U);
  EXPECT_EQ(result.counts.at("events"), 0U);
}

// ---------------------------------------------------------------- times

Words stamp(std::uint32_t system, std::uint64_t time) {
  return {system, 0x03e10000U | static_cast<std::uint32_t>(time & 0xffffU),
          0x04e10000U | static_cast<std::uint32_t>(time >> 16 & 0xffffU),
          0x05e10000U | static_cast<std::uint32_t>(time >> 32 & 0xffffU),
          0x06e10000U | static_cast<std::uint32_t>(time >> 48 & 0xffffU)};
}

TEST_F(LmdReading, WhiteRabbitStamps) {
  constexpr std::uint64_t kTime = 0x17a1b2c3d4e5f607;
  const auto plain = subevent(1, {7, 0x03e10001, 3});
  const auto first = event(1, plain + subevent(2, stamp(0x100, kTime)) + subevent(3, stamp(0x200, kTime + 5)));
  const auto wrong = event(2, subevent(2, {0x100, 0x03e10001, 0x04e10000, 0x06e10000, 0x05e10000}));
  const auto cut = event(3, subevent(2, {0x100, 0x03e10001, 0x04e10000, 0x05e10000}));
  const auto path = flat(first + wrong + cut + event(4, "") + event(2, subevent(2, stamp(0x200, kTime + 77))));

  const auto any = read(path, "time=wr");
  EXPECT_EQ(any.all.time, (Ticks{Tick(kTime), Tick(kTime), Tick(kTime), Tick(kTime + 77)})) << "numbers do not matter";
  ASSERT_EQ(any.all.losses.size(), 3U);
  for (const auto& loss : any.all.losses) {
    EXPECT_EQ(loss.cause, DropCause::untimed);
    EXPECT_EQ(loss.hits, 1U);
    EXPECT_EQ(loss.before, 3U);
  }
  EXPECT_EQ(any.counts.at("untimed_events"), 3U);
  EXPECT_FALSE(any.counts.contains("missing_numbers"));

  EXPECT_EQ(read(path, "time=wr&wr=0x200").all.time,
            (Ticks{Tick(kTime + 5), Tick(kTime + 5), Tick(kTime + 5), Tick(kTime + 77)}));
  EXPECT_EQ(read(path, "time=wr&wr=512").all.time,
            (Ticks{Tick(kTime + 5), Tick(kTime + 5), Tick(kTime + 5), Tick(kTime + 77)}));
  EXPECT_EQ(read(path, "time=wr&wr=0x300").all.size(), 0U);
}

TEST_F(LmdReading, StampsThatTheirFrontEndMarksAsWrong) {
  constexpr std::uint32_t kError = 1U << 16;
  const auto good = event(1, subevent(2, stamp(0x100, 1000)));
  const auto bad = event(2, subevent(2, stamp(0x100 | kError, 40)) + subevent(3, stamp(0x200, 2000)));
  const auto path = flat(good + bad + event(3, subevent(2, stamp(0x100, 3000))));
  for (const char* query : {"time=wr", "time=wr&wr=0x100"}) {
    const auto dropped = read(path, query);
    EXPECT_EQ(dropped.all.time, (Ticks{1000, 3000}));
    ASSERT_EQ(dropped.all.losses.size(), 1U);
    EXPECT_EQ(dropped.all.losses[0].cause, DropCause::untimed);
    EXPECT_EQ(dropped.all.losses[0].hits, 2U);
    EXPECT_EQ(dropped.counts.at("untimed_events"), 1U);
    EXPECT_EQ(read(path, std::string(query) + "&bad-stamps=keep").all.time, (Ticks{1000, 40, 40, 3000}));
  }
  EXPECT_EQ(read(path, "time=wr&wr=0x200").all.time, (Ticks{2000, 2000})) << "the stamp of another system";
}

TEST_F(LmdReading, TimesInDataWords) {
  const auto first = event(1, subevent(0x01000007, {11}) + subevent(9, {1, 2, 3}));
  const auto second = event(2, subevent(0x01000007, {12}) + subevent(9, {4, 0xffffffff, 6}));
  const auto path = flat(first + second);
  EXPECT_EQ(read(path, "time=word:0,1").all.time, (Ticks{11, 11, 12, 12}));
  EXPECT_EQ(read(path, "time=word:1,2").all.time,
            (Ticks{Tick(3ULL << 32 | 2), Tick(3ULL << 32 | 2), Tick(6ULL << 32 | 0xffffffff),
                   Tick(6ULL << 32 | 0xffffffff)}));
  EXPECT_EQ(read(path, "time=word:0,1&from=00000009").all.time, (Ticks{1, 1, 4, 4}));
  EXPECT_EQ(read(path, "time=word:0,1&from=01000007&unit=us").all.time, (Ticks{11000, 11000, 12000, 12000}));
  EXPECT_EQ(read(path, "time=word:3,1").all.losses.size(), 2U);
}

TEST_F(LmdReading, TimesThatAreNoTicks) {
  const auto path = flat(event(1, subevent(1, {1500})) + event(2, subevent(1, {2000})));
  const auto result = read(path, "time=word:0,1&unit=ps");
  EXPECT_EQ(result.all.time, (Ticks{2}));
  EXPECT_EQ(result.counts.at("untimed_events"), 1U);
  EXPECT_EQ(read(path, "time=word:0,1&unit=ps&round=down").all.time, (Ticks{1, 2}));
  const auto late = flat(event(1, subevent(1, {0xffffffff, 0xffffffff})), "late.lmd");
  EXPECT_EQ(read(late, "time=word:0,2").all.time, (Ticks{Tick(0xffffffffffffffff)}));
  EXPECT_EQ(read(late, "time=word:0,2&unit=us").counts.at("untimed_events"), 1U) << "it does not fit";
}

TEST_F(LmdReading, AnOddWordIsNoTime) {
  const auto odd = Bytes().u32(3).u16(10).u16(1).u16(9).u8(0).u8(0).u16(0xbeef).text();
  EXPECT_EQ(read(flat(event(1, odd)), "time=word:0,1").all.size(), 0U);
}

TEST_F(LmdReading, KeysThatMakeNoSense) {
  const auto path = flat(plain_event(1));
  for (const std::string query : {"time=noon",
                                  "time=word",
                                  "time=word:",
                                  "time=word:x,1",
                                  "time=word:0,3",
                                  "time=word:0,0",
                                  "time=word:-1,1",
                                  "time=word:0,1,2",
                                  "time=word:99999999999,1",
                                  "time=wr&wr=blue",
                                  "time=wr&bad-stamps=some",
                                  "bad-stamps=keep",
                                  "time=wr&wr=0x1ffffffff",
                                  "wr=1",
                                  "time=word:0,1&from=xyz",
                                  "bits=15",
                                  "bits=33",
                                  "time=wr&bits=24",
                                  "number=5",
                                  "number=word:1:4-18",
                                  "number=word:0:17-32",
                                  "number=word:0&bits=24",
                                  "time=wr&number=word:0",
                                  "number=word:0&from=xyz",
                                  "from=00000001",
                                  "unit=ns",
                                  "time=wr&unit=weeks"}) {
    EXPECT_THROW((void)open({path}, query), UserError) << query;
  }
}

}  // namespace
}  // namespace eventloom
