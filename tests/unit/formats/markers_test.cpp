#include "formats/markers.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/marker_reader.hpp"

namespace eventloom::test {

namespace {

using Words = std::vector<std::uint32_t>;

/// Logs each visited item in one line.
struct Log {
  std::vector<std::string> lines;

  void epoch(Epoch e) { add("epoch", {e.value}); }
  void hit(std::uint32_t time, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    add("hit", {time, channel}, payload);
  }
  void tag(std::uint32_t tag) { add("tag", {tag}); }
  void peak(Peak p) { add("peak", {p.time, p.amplitude, p.width}); }
  void histogram(std::uint32_t first, std::span<const std::uint32_t> bins) { add("histogram", {first}, bins); }
  void schedule(std::span<const std::uint32_t> words) { add("schedule", {}, words); }

 private:
  void add(const char* name, std::initializer_list<std::uint64_t> values, std::span<const std::uint32_t> words = {}) {
    std::ostringstream line;
    line << name;
    for (const auto v : values) line << ' ' << v;
    for (const auto w : words) line << ' ' << w;
    lines.push_back(line.str());
  }
};

struct ReadResult {
  std::vector<std::string> lines;
  std::optional<FormatError> error;
};

ReadResult read(const Words& words, const PayloadTable& table = {}, EpochRange epochs = {5, 9}) {
  Log log;
  const MarkerContext context{epochs, 1000, table};
  const auto error = MarkerReader(std::span<const std::uint32_t>(words), context, log).read();
  return {log.lines, error};
}

void expect_error(const Words& words, std::size_t word, const std::string& reason, const PayloadTable& table = {}) {
  const auto result = read(words, table);
  ASSERT_TRUE(result.error) << "expected: " << reason;
  EXPECT_EQ(result.error->word, word);
  EXPECT_EQ(result.error->reason, reason);
}

/// Epoch 5, and the hit of channel 2 at time 16.
const Words kGood = {0x00000005, 0x10080010, 0x20000002};

Words after_good(const Words& more) {
  Words words = kGood;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

// Words computed by hand from table 5.1 of the DABC proposal: type << 28 | value.
TEST(Markers, WordsByHand) {
  Words words;
  MarkerWriter writer(words);
  writer.epoch(Epoch((std::uint64_t{3} << 28) + 5));  // low 28 bits: 5
  writer.time(0x7ffff);                               // largest time
  writer.channel(0xfffffff);
  writer.peak({0x1fff, 1, 0});
  writer.tag(0x123);
  writer.time(16);
  writer.channel(2, Words{0xdeadbeef, 7});
  writer.tag(9);
  writer.histogram(1, Words{10, 20, 30});
  writer.schedule(std::vector<ScheduleEntry>{{1, 2, 3}});
  writer.finish();
  EXPECT_EQ(words, (Words{0x00000005,
                          0x101fffff,  // 3 words << 19 | 0x7ffff
                          0x2fffffff,
                          0x5fff8040,  // 0x1fff << 15 | 1 << 6 | 0
                          0x30000123,
                          0x10200010,                                                     // 4 words << 19 | 16
                          0x20000002, 0xdeadbeef, 7, 0x30000009, 0x40002003, 10, 20, 30,  // 1 << 13 | 3
                          0x60000001, 1, 2, 3}));
}

TEST(Markers, EveryMarkerIsReadAsWritten) {
  Words words;
  MarkerWriter writer(words);
  auto table = PayloadTable::uniform(0);
  table.words[1] = 2;
  table.words[2] = PayloadTable::kLengthInFirstWord;
  writer.epoch(5);
  writer.tag(11);
  writer.time(999);
  writer.channel(17);
  writer.channel(1U << 22 | 3, Words{100, 200});
  writer.peak({8191, 511, 63});
  writer.time(0);
  writer.channel(2U << 22 | 4, Words{3, 7, 8, 9});
  writer.channel(2U << 22 | 5, Words{0});
  writer.tag(12);
  writer.histogram(32767, Words{1, 2});
  writer.epoch(8);
  writer.schedule(std::vector<ScheduleEntry>{{1, 2, 3}, {4, 5, 6}});
  writer.finish();
  const auto result = read(words, table);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.lines,
            (std::vector<std::string>{"epoch 5", "tag 11", "hit 999 17", "hit 999 4194307 100 200", "peak 8191 511 63",
                                      "hit 0 8388612 3 7 8 9", "hit 0 8388613 0", "tag 12", "histogram 32767 1 2",
                                      "epoch 8", "schedule 1 2 3 4 5 6"}));
}

TEST(Markers, TimeGroupsOf510WordsAndMore) {
  for (const std::uint32_t n : {509U, 510U, 511U, 512U, 5000U}) {
    Words words;
    MarkerWriter writer(words);
    writer.epoch(5);
    writer.time(1);
    for (std::uint32_t i = 0; i < n; ++i) writer.channel(i);
    writer.time(2);
    writer.channel(n);
    writer.finish();
    if (n < 511) {
      EXPECT_EQ(words[1], 0x10000000U | n << 19 | 1);
    } else {
      EXPECT_EQ(words[1], 0x1ff80001U);  // 511 << 19 | 1: the next word holds the number
      EXPECT_EQ(words[2], n);
    }
    const auto result = read(words);
    EXPECT_FALSE(result.error);
    ASSERT_EQ(result.lines.size(), n + 2);
    EXPECT_EQ(result.lines.back(), "hit 2 " + std::to_string(n));
  }
}

TEST(Markers, WriterRefusesWhatDoesNotFit) {
  Words words;
  MarkerWriter writer(words);
  EXPECT_THROW(writer.time(1U << 19), std::invalid_argument);
  EXPECT_THROW(writer.channel(1U << 28), std::invalid_argument);
  EXPECT_THROW(writer.tag(1U << 28), std::invalid_argument);
  EXPECT_THROW(writer.peak({1U << 13, 0, 0}), std::invalid_argument);
  EXPECT_THROW(writer.peak({0, 1U << 9, 0}), std::invalid_argument);
  EXPECT_THROW(writer.peak({0, 0, 1U << 6}), std::invalid_argument);
  EXPECT_THROW(writer.histogram(1U << 15, {}), std::invalid_argument);
  EXPECT_THROW(writer.histogram(0, Words(1U << 13)), std::invalid_argument);
  EXPECT_TRUE(words.empty());
}

TEST(MarkerReader, NamesTheFirstWordThatIsWrong) {
  expect_error(after_good({0x70000000}), 3, "a word of unknown type");
  expect_error(after_good({0xf0000000}), 3, "a word of unknown type");
  expect_error(after_good({0x20000001}), 3, "an ID outside a time marker");
  expect_error(after_good({0x50000001}), 3, "a peak outside a time marker");
  expect_error({0x10080010, 0x20000002}, 0, "a time marker before the first epoch marker");
  expect_error({0x30000001}, 0, "an event tag before the first epoch marker");
  expect_error({0x40000000}, 0, "a histogram before the first epoch marker");
  expect_error({0x60000000}, 0, "a schedule before the first epoch marker");
  expect_error(after_good({0x100803e8, 0x20000001}), 3, "a time beyond the end of its epoch");  // 1000
  expect_error(after_good({0x10100010, 0x20000001}), 3, "a time marker with more words than the buffer has");
  expect_error(after_good({0x1ff80010}), 3, "a time marker whose word count is missing");
  expect_error(after_good({0x1ff80010, 600}), 3, "a time marker with more words than the buffer has");
  expect_error(after_good({0x10080010, 0x50000001}), 4, "a peak without an ID before it");
  expect_error(after_good({0x10080010, 0x10080010}), 4,
               "a word that is neither ID, peak nor event tag inside a time marker");
  expect_error(after_good({0x40000002, 1}), 3, "a histogram with more bins than the buffer has words");
  expect_error(after_good({0x60000001, 1, 2}), 3, "a schedule with more entries than the buffer has words");
}

TEST(MarkerReader, PayloadStaysInsideItsTimeMarker) {
  const auto two = PayloadTable::uniform(2);
  const auto own_length = PayloadTable::uniform(PayloadTable::kLengthInFirstWord);
  const std::string reason = "an ID with more payload than its time marker has words";
  expect_error({5, 0x10100010, 0x20000001, 7, 8}, 2, reason, two);
  expect_error({5, 0x10080010, 0x20000001, 0, 0}, 2, reason, own_length);
  expect_error({5, 0x10100010, 0x20000001, 1, 0}, 2, reason, own_length);
  expect_error({5, 0x10100010, 0x20000001, 0xffffffff, 0}, 2, reason, own_length);
}

TEST(MarkerReader, EpochsRiseInsideTheirRange) {
  expect_error({4}, 0, "an epoch outside the range of its buffer");
  expect_error({9}, 0, "an epoch outside the range of its buffer");
  expect_error({6, 5}, 1, "an epoch outside the range of its buffer");
  expect_error({6, 6}, 1, "an epoch outside the range of its buffer");
  EXPECT_FALSE(read({5, 6, 8}).error);
}

TEST(MarkerReader, EpochNumbersUnwrapToTheRange) {
  const Epoch wrap(std::uint64_t{7} << 28);
  const auto result = read({0x0fffffff, 0, 2}, {}, {wrap - 1, wrap + 3});
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.lines, (std::vector<std::string>{"epoch " + std::to_string((wrap - 1).value),
                                                    "epoch " + std::to_string(wrap.value),
                                                    "epoch " + std::to_string((wrap + 2).value)}));
}

TEST(MarkerReader, AnEmptyBufferIsGood) { EXPECT_FALSE(read({}).error); }

}  // namespace eventloom::test
