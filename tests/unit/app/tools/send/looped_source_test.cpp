#include "io/recorded/looped_source.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/marker_reader.hpp"
#include "io/epochs/epochs_source.hpp"
#include "stream_maker.hpp"

namespace eventloom::test {
namespace {

constexpr std::uint64_t kPasses = 4;
constexpr Epoch kPeriod = 700;
constexpr std::uint32_t kTicksOfEpoch = 1000;

using Looped = EpochFiles;

LoopedSource loop(const std::string& path, std::uint64_t passes = kPasses, Epoch period = kPeriod) {
  return {[path] { return std::make_unique<EpochsSource>(path); }, passes, period};
}

struct SeenHit {
  Tick time = 0;
  std::uint32_t channel = 0;
  std::vector<std::uint32_t> payload;
  friend bool operator==(const SeenHit&, const SeenHit&) = default;
};

struct HitVisitor {
  std::vector<SeenHit>& hits;
  Epoch open = 0;
  void epoch(Epoch epoch) { open = epoch; }
  void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    hits.push_back({tick_of_epoch(open, kTicksOfEpoch) + Tick(tick), channel, {payload.begin(), payload.end()}});
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
};

/// Hits, headers and damage of a whole stream, collected `step` epochs at a time and then forgotten.
struct Walk {
  std::vector<SeenHit> hits;
  std::vector<EpochBufferHeader> headers;
  std::vector<std::uint64_t> broken;  ///< buffers with damaged words
  std::vector<Damage> damage;
};

void take(Walk& walk, std::span<const std::byte> piece, const StreamHeader& stream, EpochRange range) {
  const auto header = read_epoch_buffer_header(piece);
  ASSERT_TRUE(header);
  ASSERT_EQ(header->stored_bytes(), piece.size());
  if (!range.contains(header->first_epoch)) return;
  walk.headers.push_back(*header);
  const auto words = words_of(*header, piece);
  if (!words_intact(*header, words)) {
    walk.broken.push_back(header->sequence);
    return;
  }
  HitVisitor visitor{walk.hits};
  const MarkerContext context{header->epochs(), stream.base.epoch_ticks, stream.payload};
  EXPECT_FALSE(MarkerReader(words, context, visitor).read());
}

Walk walk(Source& source, Epoch step) {
  Walk walk;
  SliceData data;
  for (Epoch at = 0; at < source.end_epoch(); at += step) {
    const EpochRange range{at, at + step};
    data.clear();
    source.collect({at - std::min(at, step / 2), at + step + step / 2}, data);
    for (auto piece : data.pieces) {
      for (; !piece.empty(); piece = piece.subspan(read_epoch_buffer_header(piece)->stored_bytes())) {
        take(walk, piece.first(read_epoch_buffer_header(piece)->stored_bytes()), source.header(), range);
      }
    }
    for (const auto& damage : data.damage) {
      if (range.contains(damage.first_epoch)) walk.damage.push_back(damage);
    }
    source.release_before(at + step / 2);
  }
  return walk;
}

/// Buffers of up to 9 epochs, with payload, every item of the format, and empty epochs between.
StreamMaker recording() {
  std::mt19937 random(3);
  StreamMaker maker;
  std::uint64_t number = 0;
  std::uint64_t before = 0;
  for (Epoch epoch = 13; epoch < 600;) {
    std::vector<std::uint32_t> words;
    MarkerWriter writer(words);
    EpochBufferHeader header{.first_epoch = epoch, .n_epochs = 1 + static_cast<std::uint32_t>(random() % 9)};
    for (std::uint32_t e = 0; e < header.n_epochs; e += 1 + static_cast<std::uint32_t>(random() % 3)) {
      writer.epoch(epoch + Epoch(e));
      for (std::uint32_t tick = 0; tick < 5; ++tick) {
        writer.time(tick * 100);
        // Payload that looks like an epoch marker, and a group too long for the marker's count.
        const std::vector<std::uint32_t> payload(tick == 3 ? 600 : random() % 3, random() & kValueMask);
        std::vector<std::uint32_t> with_length{static_cast<std::uint32_t>(payload.size())};
        with_length.insert(with_length.end(), payload.begin(), payload.end());
        writer.channel(static_cast<std::uint32_t>(random() & kValueMask), with_length);
        writer.tag(5);
        header.n_hits += 1;
      }
      writer.histogram(3, std::vector<std::uint32_t>{1, 2, 3});
      writer.schedule(std::vector<ScheduleEntry>{{1, 2, 3}});
    }
    writer.finish();
    header.n_words = static_cast<std::uint32_t>(words.size());
    header.hits_before = before;
    header.sequence = number++;
    before += header.n_hits;
    epoch += Epoch(header.n_epochs + random() % 20);
    Bytes bytes;
    append_stored(header, words, bytes);
    maker.add(bytes);
  }
  return maker;
}

/// The file with a header which states that payloads begin with their length.
Bytes with_payload_header(Bytes file) {
  auto header = stream_header();
  header.payload = PayloadTable::uniform(PayloadTable::kLengthInFirstWord);
  const auto start = encode_stream_header(header);
  std::ranges::copy(start, file.begin());
  return file;
}

TEST_F(Looped, HitsAreThoseOfTheRecordingLater) {
  const auto path = write(with_payload_header(recording().with_index()));
  EpochsSource once_source(path);
  const auto once = walk(once_source, 100);
  ASSERT_GT(once.hits.size(), 500U);
  std::vector<SeenHit> expected;
  for (std::uint64_t pass = 0; pass < kPasses; ++pass) {
    for (auto hit : once.hits) {
      hit.time += tick_of_epoch(pass * kPeriod, kTicksOfEpoch);
      expected.push_back(hit);
    }
  }
  for (const Epoch step : {Epoch(1), Epoch(64), Epoch(5000)}) {
    auto source = loop(path);
    EXPECT_EQ(source.first_epoch(), once_source.first_epoch());
    EXPECT_EQ(source.end_epoch(), *once_source.end_epoch() + (kPasses - 1) * kPeriod);
    const auto all = walk(source, step);
    EXPECT_EQ(all.hits, expected) << step.value;
    EXPECT_TRUE(all.broken.empty() && all.damage.empty()) << step.value;
    EXPECT_EQ(source.hits_read(), expected.size()) << step.value;
    EXPECT_EQ(source.anomalies(), 0U) << step.value;
  }
}

TEST_F(Looped, NumbersAndPlacesContinue) {
  auto source = loop(write(with_payload_header(recording().with_index())));
  const auto all = walk(source, 50);
  std::uint64_t hits = 0;
  std::uint64_t place = encode_stream_header(stream_header()).size();
  Epoch end = 0;
  for (std::size_t i = 0; i < all.headers.size(); ++i) {
    const auto& header = all.headers[i];
    EXPECT_EQ(header.sequence, i);
    EXPECT_EQ(header.hits_before, hits);
    EXPECT_GE(header.first_epoch, end);
    if (i != 0 && header.first_epoch < end + kPeriod / 10) {
      EXPECT_EQ(header.stream_offset, place);
    }
    hits += header.n_hits;
    place = header.stream_offset + header.stored_bytes();
    end = header.epochs().end;
  }
}

TEST_F(Looped, OnceIsTheRecording) {
  const auto path = write(with_payload_header(recording().with_index()));
  EpochsSource once(path);
  auto source = loop(path, 1, 1);
  EXPECT_EQ(walk(source, 30).hits, walk(once, 30).hits);
  EXPECT_EQ(source.end_epoch(), once.end_epoch());
}

/// In each pass the same buffer has damaged words and another one lacks its header; the hits of both are accounted for.
TEST_F(Looped, DamageStaysDamage) {
  StreamMaker maker;
  for (Epoch epoch = 0; epoch < 10; ++epoch) maker.add(50 * epoch, 5);
  for (const bool with_index : {true, false}) {
    auto file = with_index ? maker.with_index() : maker.without_index();
    const std::size_t start = encode_stream_header(stream_header()).size();
    const std::size_t size = (maker.without_index().size() - start) / 10;
    file[start + 3 * size + 65] ^= std::byte{1};
    file[start + 6 * size + 20] ^= std::byte{1};
    auto source = loop(write(file));
    const auto all = walk(source, 40);
    EXPECT_EQ(all.broken, (std::vector<std::uint64_t>{3, 13, 23, 33})) << with_index;
    ASSERT_EQ(all.damage.size(), kPasses) << with_index;
    for (std::uint64_t pass = 0; pass < kPasses; ++pass) {
      const auto& damage = all.damage[pass];
      EXPECT_EQ(damage.n_hits, 5U);
      EXPECT_LE(damage.first_epoch, Epoch(300) + pass * kPeriod);
      EXPECT_GT(damage.first_epoch + damage.n_epochs, Epoch(300) + pass * kPeriod);
      EXPECT_EQ(damage.file_offset % maker.without_index().size(), all.damage[0].file_offset);
    }
    EXPECT_EQ(all.hits.size(), kPasses * 8 * 5);
    EXPECT_EQ(source.hits_read(), kPasses * 50);
  }
}

/// A recording that breaks off: the damage extends to the next pass, and without limit in the last one.
TEST_F(Looped, OpenDamageEndsWithItsPass) {
  auto file = with_payload_header(recording().without_index());
  file.resize(file.size() - 100);
  const auto path = write(file);
  EpochsSource once(path);
  ASSERT_TRUE(once.tail_damage());
  const Epoch begin = once.tail_damage()->first_epoch;
  auto source = loop(path);
  const auto all = walk(source, 200);
  ASSERT_EQ(all.damage.size(), kPasses);
  for (std::uint64_t pass = 0; pass < kPasses; ++pass) {
    EXPECT_EQ(all.damage[pass].first_epoch, begin + pass * kPeriod);
    const Epoch end = all.damage[pass].first_epoch + all.damage[pass].n_epochs;
    EXPECT_EQ(end, pass + 1 < kPasses ? Epoch(13) + (pass + 1) * kPeriod : std::numeric_limits<Epoch>::max());
  }
  ASSERT_TRUE(source.tail_damage());
  EXPECT_EQ(source.tail_damage()->first_epoch, begin + (kPasses - 1) * kPeriod);
  EXPECT_EQ(source.anomalies(), kPasses * once.anomalies());
}

TEST_F(Looped, FindsWhatBeginsNext) {
  StreamMaker maker;
  for (const Epoch epoch : {Epoch(20), Epoch(40), Epoch(60)}) maker.add(epoch, 5);
  auto source = loop(write(maker.with_index()), 3, 100);
  std::vector<Epoch> begins;
  for (auto at = source.next_beginning(0); at; at = source.next_beginning(*at + 1)) {
    begins.push_back(*at);
    source.release_before(*at);
  }
  EXPECT_EQ(begins, (std::vector<Epoch>{20, 40, 60, 120, 140, 160, 220, 240, 260}));
}

/// Collected data stay where they are, unchanged, until they are forgotten, however often they are collected again.
TEST_F(Looped, MemoryIsValidUntilForgotten) {
  auto source = loop(write(with_payload_header(recording().with_index())));
  SliceData first;
  source.collect({kPeriod, kPeriod + 50}, first);
  ASSERT_FALSE(first.pieces.empty());
  std::vector<Bytes> before;
  for (const auto piece : first.pieces) before.emplace_back(piece.begin(), piece.end());
  SliceData second;
  source.collect({0, 4 * kPeriod}, second);
  source.release_before(kPeriod);
  SliceData third;
  source.collect({kPeriod, kPeriod + 50}, third);
  ASSERT_EQ(third.pieces.size(), first.pieces.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(first.pieces[i], before[i]));
    EXPECT_EQ(third.pieces[i].data(), first.pieces[i].data());
  }
}

TEST_F(Looped, SkipsWhatIsForgottenUnread) {
  const auto path = write(with_payload_header(recording().with_index()));
  auto whole = loop(path);
  const auto all = walk(whole, 100);
  auto source = loop(path);
  const Epoch begin = 2 * kPeriod + 13;
  source.release_before(begin);
  SliceData data;
  source.collect({begin, 4 * kPeriod}, data);
  std::uint64_t expected = 0;
  for (const auto& header : all.headers) expected += header.first_epoch >= begin ? header.n_hits : 0;
  EXPECT_EQ(hits_in(data), expected);
  EXPECT_EQ(source.hits_read(), all.hits.size());
}

TEST_F(Looped, EmptyRecording) {
  auto source = loop(write(StreamMaker().with_index()), 3, loop_period(0, 0, 5));
  EXPECT_EQ(source.first_epoch(), std::nullopt);
  EXPECT_EQ(source.end_epoch(), Epoch(0));
  SliceData data;
  source.collect({0, 100}, data);
  EXPECT_TRUE(data.pieces.empty() && data.damage.empty());
  EXPECT_EQ(source.next_beginning(0), std::nullopt);
}

TEST_F(Looped, PassesBeyondTheLastEpochAreRefused) {
  StreamMaker maker;
  maker.add(0, 1);
  maker.add(kLastEpoch - 10, 1);
  const auto path = write(maker.with_index());
  EXPECT_THROW(loop(path, 2, kLastEpoch), UserError);
  StreamMaker small;
  small.add(5, 1);
  const auto other = write(small.with_index());
  EXPECT_THROW(loop(other, kLastEpoch.value, 2), UserError);
  EXPECT_EQ(loop(other, kLastEpoch.value - 6, 1).end_epoch(), kLastEpoch - 1);
}

TEST_F(Looped, ARecordingThatBecomesAnotherIsRefused) {
  StreamMaker maker;
  for (Epoch epoch = 0; epoch < 10; ++epoch) maker.add(epoch, 5);
  auto source = loop(write(maker.with_index()), 3, 20);
  maker.add(100, 5);
  static_cast<void>(write(maker.with_index()));
  EXPECT_THROW(source.release_before(30), UserError);
}

TEST(LoopPeriod, CoversAllSourcesAndTheGap) {
  EXPECT_EQ(loop_period(10, 35, 7), Epoch(32));
  EXPECT_EQ(loop_period(0, 0, 1), Epoch(1));
}

}  // namespace
}  // namespace eventloom::test
