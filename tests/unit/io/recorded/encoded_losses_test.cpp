#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "io/recorded/encoded_stream.hpp"

namespace eventloom {
namespace {

constexpr std::uint32_t kTicksPerEpoch = 100;

struct Hit {
  Tick time = 0;
  std::uint32_t channel = 0;
  std::vector<std::uint32_t> payload;
  friend bool operator==(const Hit&, const Hit&) = default;
};

/// The blocks that a reader returns.
struct Script {
  std::vector<HitBlock> blocks;
  PayloadTable payload;
  std::uint32_t flags = 0;
  std::uint64_t anomalies = 0;
  SourceCounts counts;
};

class ScriptReader final : public HitReader {
 public:
  explicit ScriptReader(const Script& script) : script_(script) {
    header_.source = 3;
    header_.base = {1000, kTicksPerEpoch};
    header_.payload = script.payload;
    header_.flags = script.flags;
  }
  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override {
    block.clear();
    if (at_ == script_.blocks.size()) return false;
    block = script_.blocks[at_++];
    return true;
  }
  [[nodiscard]] std::uint64_t anomalies() const override { return script_.anomalies; }
  [[nodiscard]] SourceCounts counts() const override { return script_.counts; }

 private:
  const Script& script_;
  StreamHeader header_;
  std::string name_ = "script";
  std::size_t at_ = 0;
};

std::unique_ptr<EncodedStream> stream_of(const Script& script, std::size_t reorder = 0) {
  return std::make_unique<EncodedStream>(std::make_unique<ScriptReader>(script), ReorderLimits{reorder});
}

void add(HitBlock& block, const Hit& hit, bool varying) {
  if (varying) block.payload_begin.push_back(static_cast<std::uint32_t>(block.payload.size()));
  block.time.push_back(hit.time);
  block.channel.push_back(hit.channel);
  block.payload.insert(block.payload.end(), hit.payload.begin(), hit.payload.end());
}

std::uint64_t lost_in(const Script& script) {
  std::uint64_t sum = 0;
  for (const auto& block : script.blocks) {
    for (const auto& loss : block.losses) sum += loss.hits;
  }
  return sum;
}

/// All hits of the script in time order.
std::vector<Hit> hits_of(const Script& script) {
  std::vector<Hit> hits;
  for (const auto& block : script.blocks) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto payload = block.payload_of(i);
      hits.push_back({block.time[i], block.channel[i], {payload.begin(), payload.end()}});
    }
  }
  std::ranges::stable_sort(hits, {}, &Hit::time);
  return hits;
}

/// Damage in comparable form: first epoch, epochs, offset, hits, cause.
using Record = std::tuple<Epoch, std::uint64_t, std::uint64_t, std::uint32_t, DropCause>;

struct Part {
  std::vector<Hit> hits;  ///< hits of whole epoch buffers
  std::vector<Record> damage;
  friend bool operator==(const Part&, const Part&) = default;

  void epoch(Epoch e) { open = e; }
  void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    hits.push_back({tick_of_epoch(open, kTicksPerEpoch) + Tick(tick), channel, {payload.begin(), payload.end()}});
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
  Epoch open = 0;
};

Part decoded(const SliceData& data, const StreamHeader& header) {
  Part part;
  for (const auto& d : data.damage) {
    part.damage.emplace_back(d.first_epoch, d.n_epochs, d.file_offset, d.n_hits, d.cause);
  }
  for (auto piece : data.pieces) {
    while (!piece.empty()) {
      const auto buffer = read_epoch_buffer_header(piece);
      EXPECT_TRUE(buffer);
      if (!buffer || buffer->stored_bytes() > piece.size()) return part;
      const auto words = words_of(*buffer, piece);
      EXPECT_TRUE(words_intact(*buffer, words));
      EXPECT_FALSE(MarkerReader(words, {buffer->epochs(), kTicksPerEpoch, header.payload}, part).read());
      piece = piece.subspan(buffer->stored_bytes());
    }
  }
  part.open = 0;
  return part;
}

Part collected(EncodedStream& stream, EpochRange epochs) {
  SliceData data;
  stream.collect(epochs, data);
  return decoded(data, stream.header());
}

constexpr EpochRange kWhole{0, Epoch(std::uint64_t{1} << 40)};

/// Hits that are nearly in order, with losses of all kinds between them, in blocks of all sizes.
Script random_script(std::uint64_t seed, std::size_t disorder) {
  std::mt19937_64 random(seed);
  Script script;
  const bool varying = seed % 2 == 0;
  script.payload = PayloadTable::uniform(varying ? PayloadTable::kLengthInFirstWord : 2);
  if (seed % 3 == 0) script.flags = kNumbered;
  Tick time(random() % 5000);
  const std::uint64_t spread = seed % 4 == 0 ? 2 : 60;
  const auto n_blocks = random() % 30;
  for (std::size_t b = 0; b < n_blocks; ++b) {
    HitBlock block;
    for (auto n = random() % 200; n > 0; --n) {
      while (random() % 25 == 0) {
        block.losses.push_back({.before = block.size(),
                                .offset = random() % 10'000,
                                .hits = static_cast<std::uint32_t>(random() % 4),
                                .cause = static_cast<DropCause>(random() % kDropCauses),
                                .leaves_hole = random() % 2 == 0,
                                .breaks_off = random() % 8 == 0});
      }
      if (random() % 50 == 0) time += Tick(random() % 3000);
      if (random() % 30 == 0) break;
      time += Tick(random() % spread);
      std::vector<std::uint32_t> payload{static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
      if (varying) {
        payload.assign(1 + random() % 6, static_cast<std::uint32_t>(random()));
        payload[0] = static_cast<std::uint32_t>(payload.size()) - 1;
      }
      add(block, {time, static_cast<std::uint32_t>(random() & 0x0fffffffU), payload}, varying);
    }
    script.blocks.push_back(block);
  }
  if (disorder == 0) return script;
  for (auto& block : script.blocks) {  // times are swapped; what belongs to the positions stays
    for (std::size_t i = disorder; i < block.size(); i += 1 + random() % disorder) {
      std::swap(block.time[i], block.time[i - random() % disorder]);
    }
  }
  return script;
}

/// The data sent for each slice, and the damage that its owner accounts for.
struct Sent {
  std::vector<Part> slices;
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;
  std::array<std::uint64_t, kDropCauses> lost_by_cause{};
};

Sent send_all(EncodedStream& stream, const SliceGeometry& geometry, bool look_first, bool forget) {
  Sent sent;
  if (look_first) {
    EXPECT_LE(stream.first_epoch().value_or(0), stream.end_epoch().value_or(kWhole.end));
  }
  for (SliceId slice{0};; ++slice.value) {
    const auto part = collected(stream, geometry.sent_epochs(slice));
    const auto owned = geometry.owned_epochs(slice);
    if (stream.end_epoch() && owned.begin >= *stream.end_epoch()) return sent;
    for (const auto& hit : part.hits) sent.hits += owned.contains(epoch_of(hit.time, kTicksPerEpoch)) ? 1 : 0;
    for (const auto& [first, n, offset, hits, cause] : part.damage) {
      if (!owned.contains(first)) continue;
      sent.lost += hits;
      sent.lost_by_cause[static_cast<std::size_t>(cause)] += hits;
    }
    sent.slices.push_back(part);
    if (forget) stream.release_before(geometry.sent_epochs({slice.value + 1}).begin);
  }
}

TEST(EncodedLosses, EveryHitReadAndEveryHitLostIsOwnedByOneSlice) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t disorder = seed % 5 == 0 ? 20 : 0;
    const auto script = random_script(seed, disorder);
    for (const std::uint64_t length : {1, 7, 64}) {
      for (const Tick overlap : {Tick(0), Tick(250)}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(length) + " epochs a slice");
        const auto stream = stream_of(script, disorder);
        const auto sent = send_all(*stream, {{1000, kTicksPerEpoch}, length, overlap, 0}, seed % 2 == 0, seed % 7 != 0);
        ASSERT_EQ(sent.hits, hits_of(script).size());
        ASSERT_EQ(sent.lost, lost_in(script));
        ASSERT_EQ(stream->hits_read(), sent.hits + sent.lost);
        const auto counts = stream->counts().by_name();
        for (std::size_t c = 0; c < kDropCauses; ++c) {
          const auto count = counts.find("hits_dropped_" + std::string(kDropCauseNames[c]));
          ASSERT_EQ(count == counts.end() ? 0 : count->second, sent.lost_by_cause[c]);
        }
      }
    }
  }
}

TEST(EncodedLosses, WhatASliceIsSentDoesNotDependOnTheSteps) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t disorder = seed % 5 == 0 ? 20 : 0;
    const auto script = random_script(seed, disorder);
    for (const std::uint64_t length : {1, 5, 40}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(length) + " epochs a slice");
      const SliceGeometry geometry{{1000, kTicksPerEpoch}, length, 150, 0};
      const auto slice_by_slice = stream_of(script, disorder);
      const auto sent = send_all(*slice_by_slice, geometry, false, true);
      const auto at_once = stream_of(script, disorder);
      const auto all = collected(*at_once, kWhole);
      ASSERT_EQ(all.hits, hits_of(script));
      ASSERT_EQ(at_once->end_epoch(), slice_by_slice->end_epoch());
      ASSERT_EQ(at_once->first_epoch(), slice_by_slice->first_epoch());
      ASSERT_EQ(at_once->tail_damage().has_value(), slice_by_slice->tail_damage().has_value());
      ASSERT_EQ(at_once->hits_read(), slice_by_slice->hits_read());
      ASSERT_EQ(at_once->anomalies(), slice_by_slice->anomalies());
      for (std::size_t i = sent.slices.size(); i-- > 0;) {  // backwards: nothing has been forgotten
        ASSERT_EQ(collected(*at_once, geometry.sent_epochs({i})), sent.slices[i]) << "slice " << i;
      }
    }
  }
}

TEST(EncodedLosses, TheNextBeginningIsThatOfABufferOrOfDamage) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t disorder = seed % 5 == 0 ? 20 : 0;
    const auto script = random_script(seed, disorder);
    const auto whole = stream_of(script, disorder);
    SliceData data;
    whole->collect(kWhole, data);
    std::set<Epoch> begins;
    for (const auto& d : data.damage) begins.insert(d.first_epoch);
    for (auto piece : data.pieces) {
      while (!piece.empty()) {
        const auto buffer = read_epoch_buffer_header(piece);
        begins.insert(buffer->first_epoch);
        piece = piece.subspan(buffer->stored_bytes());
      }
    }
    const auto stepped = stream_of(script, disorder);
    const Epoch end = *whole->end_epoch() + 2;
    for (Epoch from = 0; from < end; from += Epoch(1 + seed % 4)) {
      const auto expected = begins.lower_bound(from);
      const auto found = stepped->next_beginning(from);
      ASSERT_EQ(found, expected == begins.end() ? std::nullopt : std::optional(*expected))
          << seed << " from " << from.value;
    }
    ASSERT_EQ(stream_of(script, disorder)->next_beginning(end), std::nullopt);
  }
}

TEST(EncodedLosses, DamageIsGivenWhereItTouches) {
  Script script;
  script.blocks.resize(1);
  for (const Tick time : {Tick(150), Tick(950), Tick(5000)}) add(script.blocks[0], {time, 1, {}}, false);
  script.blocks[0].losses = {{.before = 1, .offset = 11, .hits = 2, .leaves_hole = true},
                             {.before = 2, .offset = 22, .hits = 3, .cause = DropCause::duplicate}};
  const Record hole{1, 9, 11, 2, DropCause::corrupt};
  const Record point{9, 0, 22, 3, DropCause::duplicate};
  const auto stream = stream_of(script);
  EXPECT_EQ(collected(*stream, {0, 1}).damage, std::vector<Record>{});
  EXPECT_EQ(collected(*stream, {1, 2}).damage, std::vector<Record>{hole});
  EXPECT_EQ(collected(*stream, {4, 5}).damage, std::vector<Record>{hole});
  EXPECT_EQ(collected(*stream, {9, 10}).damage, (std::vector<Record>{hole, point}));
  EXPECT_EQ(collected(*stream, {10, 60}).damage, std::vector<Record>{});
}

TEST(EncodedLosses, LossesBeforeTheFirstHitAreInItsEpoch) {
  Script script;
  script.blocks.resize(3);
  script.blocks[0].losses = {{.before = 0, .offset = 1, .hits = 4}};
  script.blocks[2].losses = {{.before = 0, .offset = 2, .hits = 5, .leaves_hole = true}};
  add(script.blocks[2], {123'456, 1, {}}, false);
  const auto stream = stream_of(script);
  EXPECT_EQ(stream->first_epoch(), Epoch(1234));
  const auto part = collected(*stream, {1234, 1235});
  EXPECT_EQ(part.damage,
            (std::vector<Record>{{1234, 0, 1, 4, DropCause::corrupt}, {1234, 1, 2, 5, DropCause::corrupt}}));
  EXPECT_EQ(part.hits.size(), 1U);
  EXPECT_EQ(stream->end_epoch(), Epoch(1235));
  EXPECT_EQ(stream->hits_read(), 10U);
}

TEST(EncodedLosses, AStreamOfNothingButLossesHasAnEpochForThem) {
  for (const std::uint32_t flags : {0U, std::uint32_t{kNumbered}}) {
    Script script;
    script.flags = flags;
    script.blocks.resize(2);
    script.blocks[1].losses = {{.before = 0, .offset = 9, .hits = 4}, {.before = 0, .offset = 10, .hits = 0}};
    const auto stream = stream_of(script);
    EXPECT_EQ(stream->first_epoch(), Epoch(0));
    EXPECT_EQ(stream->end_epoch(), Epoch(1));
    const auto sent = send_all(*stream, {{1000, kTicksPerEpoch}, 10, 100, 0}, false, true);
    EXPECT_EQ(sent.lost, 4U);
    EXPECT_EQ(stream->hits_read(), 4U);
    EXPECT_EQ(stream->anomalies(), 1U);
    EXPECT_FALSE(stream->tail_damage());
  }
}

TEST(EncodedLosses, AnEmptyStreamHasNoEpochs) {
  Script script;
  for (const std::size_t empty_blocks : {0, 3}) {
    script.blocks.assign(empty_blocks, {});
    const auto stream = stream_of(script, 10);
    EXPECT_FALSE(stream->end_epoch());
    EXPECT_FALSE(stream->first_epoch());
    EXPECT_EQ(stream->end_epoch(), Epoch(0));
    EXPECT_EQ(collected(*stream, kWhole), Part{});
    EXPECT_EQ(stream->hits_read(), 0U);
    EXPECT_FALSE(stream->tail_damage());
  }
}

TEST(EncodedLosses, WhereTheFileBreaksOffIsKnownWithItsEnd) {
  Script script;
  script.blocks.resize(2);
  for (const Tick time : {Tick(150), Tick(950)}) add(script.blocks[0], {time, 1, {}}, false);
  script.blocks[1].losses = {{.before = 0, .offset = 99, .hits = 2, .breaks_off = true}};
  const auto stream = stream_of(script);
  collected(*stream, {0, 1});
  EXPECT_FALSE(stream->tail_damage().has_value() && !stream->end_epoch().has_value());
  const auto part = collected(*stream, {0, 100});
  EXPECT_EQ(stream->end_epoch(), Epoch(10));
  ASSERT_TRUE(stream->tail_damage());
  EXPECT_EQ(stream->tail_damage()->first_epoch, Epoch(9)) << "the part before the end is accounted for there";
  EXPECT_EQ(stream->tail_damage()->file_offset, 99U);
  EXPECT_GT(stream->tail_damage()->n_epochs, Epoch(std::uint64_t{1} << 60));
  ASSERT_EQ(part.damage.size(), 1U);
  EXPECT_EQ(std::get<3>(part.damage[0]), 2U);
  EXPECT_EQ(stream->hits_read(), 4U);
}

TEST(EncodedLosses, AnomaliesAndCountsAreThoseOfTheReaderAndTheLosses) {
  Script script;
  script.anomalies = 7;
  script.counts = {{{Metric::source_events, 12}, {Metric::missing_numbers, 3}}, {}};
  script.blocks.resize(1);
  add(script.blocks[0], {150, 1, {}}, false);
  script.blocks[0].losses = {{.before = 0, .hits = 0, .leaves_hole = true},
                             {.before = 1, .hits = 0},
                             {.before = 1, .hits = 5, .cause = DropCause::untimed}};
  const auto stream = stream_of(script);
  collected(*stream, kWhole);
  EXPECT_EQ(stream->anomalies(), 9U);
  EXPECT_EQ(stream->counts().by_name(),
            (CountsByName{{"events", 12}, {"missing_numbers", 3}, {"hits_dropped_untimed", 5}}));
}

TEST(EncodedLosses, LargePayloadStaysWhereItIsGiven) {
  Script script;
  script.payload = PayloadTable::uniform(PayloadTable::kLengthInFirstWord);
  std::mt19937 random(4);
  Tick time = 0;
  for (const std::uint32_t words : {10U, 200'000U, 0U, 70'000U, 65'500U, 1U, 300'000U}) {
    HitBlock block;
    for (int copies = 0; copies < 3; ++copies) {
      std::vector<std::uint32_t> payload(1 + words);
      for (auto& word : payload) word = static_cast<std::uint32_t>(random());
      payload[0] = words;
      add(block, {time += 60, 5, payload}, true);
    }
    script.blocks.push_back(block);
  }
  const auto stream = stream_of(script);
  std::vector<SliceData> given(30);
  for (std::size_t e = 0; e < given.size(); ++e) stream->collect({Epoch(e), Epoch(e + 1)}, given[e]);
  const auto expected = hits_of(script);
  for (std::size_t e = 0; e < given.size(); ++e) {
    const auto part = decoded(given[e], stream->header());
    for (const auto& hit : expected) {
      if (epoch_of(hit.time, kTicksPerEpoch) != Epoch(e)) continue;
      EXPECT_EQ(std::ranges::count(part.hits, hit), 1) << "the hit at " << hit.time.value;
    }
  }
  EXPECT_EQ(collected(*stream, kWhole).hits, expected);
}

/// The memory of a forgotten chunk is reused, that of data still needed must not be.
TEST(EncodedLosses, ForgettingTakesNothingThatIsStillWanted) {
  Script script;
  script.payload = PayloadTable::uniform(16);
  for (Tick time = 0; time < 400'000;) {
    HitBlock block;
    for (int i = 0; i < 500; ++i) {
      const auto word = static_cast<std::uint32_t>(time);
      add(block, {time, word, std::vector<std::uint32_t>(16, word)}, false);
      time += 7;
    }
    script.blocks.push_back(block);
  }
  const auto stream = stream_of(script);
  const auto expected = hits_of(script);
  constexpr Epoch kBehind = 600;  // some chunks
  constexpr Epoch kStep = 10;
  std::vector<SliceData> held(4000 / kStep + 2);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Epoch at = i * kStep;
    const EpochRange oldest{at - std::min(at, kBehind), at - std::min(at, kBehind) + kStep};
    stream->release_before(oldest.begin);
    stream->collect({at, at + kStep}, held[i]);
    if (at < kBehind) continue;
    const auto part = decoded(held[oldest.begin / kStep], stream->header());
    ASSERT_EQ(collected(*stream, oldest), part) << "epoch " << oldest.begin.value;
    for (const auto& hit : part.hits) {
      if (!oldest.contains(epoch_of(hit.time, kTicksPerEpoch))) continue;
      ASSERT_EQ(hit, expected[seen++]);
    }
  }
  EXPECT_GT(seen, expected.size() / 2);
}

}  // namespace
}  // namespace eventloom
