#include "formats/clip_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "formats/marker_reader.hpp"

namespace eventloom {
namespace {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint32_t>;

struct Item {
  Epoch epoch = 0;
  std::uint32_t tick = 0;
  std::uint32_t channel = 0;
  Words payload;
  friend bool operator==(const Item&, const Item&) = default;
};

struct ItemList {
  std::vector<Item>& items;
  Epoch open = 0;

  void epoch(Epoch epoch) { open = epoch; }
  void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    items.push_back({open, tick, channel, {payload.begin(), payload.end()}});
  }
  void tag(std::uint32_t tag) { items.push_back({open, 0, tag, {1}}); }
  void peak(const Peak& peak) { items.push_back({open, peak.time, peak.amplitude, {2}}); }
  void histogram(std::uint32_t bin, std::span<const std::uint32_t> bins) {
    items.push_back({open, bin, 0, {bins.begin(), bins.end()}});
  }
  void schedule(std::span<const std::uint32_t> words) { items.push_back({open, 0, 0, {words.begin(), words.end()}}); }
};

/// Items of a stored buffer; `intact`: whether all of it agrees with its header.
std::vector<Item> items_of(const Bytes& stored, const StreamHeader& stream) {
  const auto header = read_epoch_buffer_header(stored);
  EXPECT_TRUE(header && header->stored_bytes() == stored.size());
  if (!header || header->stored_bytes() != stored.size()) return {};
  const auto words = words_of(*header, stored);
  EXPECT_TRUE(words_intact(*header, words));
  std::vector<Item> items;
  ItemList list{items};
  const MarkerContext context{header->epochs(), stream.base.epoch_ticks, stream.payload};
  const auto error = MarkerReader(words, context, list).read();
  EXPECT_FALSE(error) << error->reason;
  return items;
}

StreamHeader stream_of(std::uint8_t payload = 0) {
  StreamHeader stream;
  stream.base = {1000, 1000};
  stream.payload = PayloadTable::uniform(payload);
  return stream;
}

/// Epochs 4, 5, 5, 7; the header covers 4 to 7.
Bytes small_buffer() {
  EpochBufferEncoder encoder(3, 1000, 640, {});
  encoder.add(4'010, 1, {});
  encoder.add(5'020, 2, {});
  encoder.add(5'020, 3, {});
  encoder.add(7'030, 4, {});
  Bytes bytes;
  encoder.close(bytes);
  return bytes;
}

Bytes sealed(EpochBufferHeader header, const Words& words) {
  header.n_words = static_cast<std::uint32_t>(words.size());
  Bytes bytes;
  append_stored(header, words, bytes);
  return bytes;
}

TEST(ClipStored, KeepsWhatIsInTheRange) {
  const auto bytes = small_buffer();
  Bytes out;
  const auto header = clip_stored(bytes, {5, 7}, stream_of(), out);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->epochs(), (EpochRange{5, 7}));
  EXPECT_EQ(header->n_hits, 2U);
  EXPECT_EQ(header->hits_before, 1U);
  EXPECT_EQ(header->source, 3U);
  EXPECT_EQ(items_of(out, stream_of()), (std::vector<Item>{{5, 20, 2, {}}, {5, 20, 3, {}}}));
  EXPECT_EQ(std::memcmp(&*header, out.data(), sizeof *header), 0) << "it returns the header that it wrote";
}

TEST(ClipStored, KeepsAllThatIsThereWhenTheRangeIsWider) {
  const auto bytes = small_buffer();
  Bytes out;
  const auto header = clip_stored(bytes, {0, 1000}, stream_of(), out);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->epochs(), (EpochRange{4, 8}));
  EXPECT_EQ(out, bytes);
}

/// Epochs without hits lie at the edges of the range.
TEST(ClipStored, CoversTheRangeNotTheHits) {
  Bytes out;
  EXPECT_EQ(clip_stored(small_buffer(), {6, 20}, stream_of(), out)->epochs(), (EpochRange{6, 8}));
  EXPECT_EQ(clip_stored(small_buffer(), {0, 7}, stream_of(), out)->epochs(), (EpochRange{4, 7}));
}

TEST(ClipStored, AppendsNothingWithoutHits) {
  Bytes out(8, std::byte{7});
  const auto header = clip_stored(small_buffer(), {6, 7}, stream_of(), out);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->n_hits, 0U);
  EXPECT_EQ(out, Bytes(8, std::byte{7}));
}

TEST(ClipStored, AppendsToWhatIsThere) {
  Bytes out;
  clip_stored(small_buffer(), {4, 5}, stream_of(), out);
  const auto first = out;
  clip_stored(small_buffer(), {5, 8}, stream_of(), out);
  ASSERT_GT(out.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), out.begin()));
  const Bytes second(out.begin() + static_cast<std::ptrdiff_t>(first.size()), out.end());
  EXPECT_EQ(items_of(second, stream_of()).size(), 3U);
}

/// A view may extend beyond the buffer, over the buffers that follow.
TEST(ClipStored, ReadsNoFurtherThanTheBuffer) {
  auto bytes = small_buffer();
  const auto alone = bytes;
  bytes.resize(bytes.size() + 100, std::byte{0xff});
  Bytes from_long;
  Bytes from_alone;
  clip_stored(bytes, {5, 8}, stream_of(), from_long);
  clip_stored(alone, {5, 8}, stream_of(), from_alone);
  EXPECT_EQ(from_long, from_alone);
}

TEST(ClipStored, RefusesWhatIsNotIntact) {
  const auto good = small_buffer();
  for (std::size_t byte = 0; byte < sizeof(EpochBufferHeader) + 32; ++byte) {
    auto bytes = good;
    bytes[byte] ^= std::byte{4};
    Bytes out;
    EXPECT_FALSE(clip_stored(bytes, {5, 7}, stream_of(), out)) << "byte " << byte;
    EXPECT_TRUE(out.empty());
  }
  Bytes out;
  EXPECT_FALSE(clip_stored(std::span(good).first(good.size() - 8), {5, 7}, stream_of(), out));
  EXPECT_FALSE(clip_stored(std::span(good).first(10), {5, 7}, stream_of(), out));
}

/// The checksums are right but the words are wrong: in the part to be kept, and after it.
TEST(ClipStored, RefusesWordsThatAreNotTheMarkerFormat) {
  const EpochBufferHeader header{.first_epoch = 4, .n_epochs = 4};
  const std::uint32_t hit = encode_marker(MarkerType::channel, 1);
  const std::vector<Words> wrong = {
      {4, encode_time(10, 5), hit},                       // more words than exist
      {4, encode_time(10, 511), 0xffffffff, hit},         // as many as fit 32 bits
      {4, encode_time(10, 511)},                          // the number is missing
      {4, encode_time(10, 1), hit, 9},                    // an epoch outside
      {4, encode_time(10, 1), hit, 0xf0000000},           // an unknown type
      {4, encode_marker(MarkerType::histogram, 0x1fff)},  // bins that do not exist
      {4, encode_marker(MarkerType::schedule, 0xfffffff)},
      {hit},
  };
  for (const auto& words : wrong) {
    Bytes out;
    EXPECT_FALSE(clip_stored(sealed(header, words), {4, 6}, stream_of(), out)) << "words " << words.size();
    EXPECT_TRUE(out.empty());
  }
}

/// Items of every kind, and epochs whose low 28 bits wrap within the buffer.
TEST(ClipStored, StepsOverEveryKindOfItem) {
  constexpr Epoch kFirst((std::uint64_t{3} << 28) - 2);
  Words words;
  MarkerWriter writer(words);
  for (Epoch epoch = kFirst; epoch < kFirst + 4; ++epoch) {
    writer.epoch(epoch);
    writer.schedule(std::vector<ScheduleEntry>{{1, 2, 3}, {4, 5, 6}});
    writer.histogram(7, Words{0, 0x10000000, 5});
    writer.time(10);
    writer.channel(5, Words{1});
    writer.peak({1, 2, 3});
    writer.tag(9);
    writer.time(20);
    for (std::uint32_t i = 0; i < 300; ++i) writer.channel(i, Words{i});  // more than 9 bits can count
  }
  writer.finish();
  const EpochBufferHeader header{.first_epoch = kFirst, .n_epochs = 4, .n_hits = 4 * 301, .n_payload_words = 4 * 301};
  const auto bytes = sealed(header, words);
  const auto all = items_of(bytes, stream_of(1));
  for (Epoch begin = kFirst; begin < kFirst + 4; ++begin) {
    for (Epoch end = begin + 1; end <= kFirst + 4; ++end) {
      Bytes out;
      const auto clipped = clip_stored(bytes, {begin, end}, stream_of(1), out);
      ASSERT_TRUE(clipped);
      EXPECT_EQ(clipped->n_hits, 301 * (end - begin).value);
      EXPECT_EQ(clipped->n_payload_words, 301 * (end - begin).value);
      EXPECT_EQ(clipped->hits_before, 301 * (begin - kFirst).value);
      std::vector<Item> expected;
      for (const auto& item : all) {
        if (EpochRange{begin, end}.contains(item.epoch)) expected.push_back(item);
      }
      EXPECT_EQ(items_of(out, stream_of(1)), expected);
    }
  }
}

/// For each place where it may be cut, the two parts of a buffer hold each hit once, as if an encoder had made them.
TEST(ClipStored, PartsMakeUpTheWhole) {
  std::mt19937 random(1);
  const auto draw = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
  for (int round = 0; round < 100; ++round) {
    const auto payload = static_cast<std::uint8_t>(draw(2));
    EpochBufferEncoder encoder(0, 1000, 0, {});
    Tick time((1 + draw(9)) * 1000);
    for (auto n = 1 + draw(30); n > 0; --n) {
      encoder.add(time, static_cast<std::uint32_t>(draw(1000)), Words(payload, static_cast<std::uint32_t>(n)));
      time += Tick(draw(1500));
    }
    Bytes whole;
    const auto header = encoder.close(whole);
    const auto stream = stream_of(payload);
    const auto all = items_of(whole, stream);
    for (Epoch cut = header->first_epoch + 1; cut < header->epochs().end; ++cut) {
      Bytes front;
      Bytes back;
      const auto front_header = clip_stored(whole, {0, cut}, stream, front);
      const auto back_header = clip_stored(whole, {cut, header->epochs().end}, stream, back);
      ASSERT_TRUE(front_header && back_header);
      EXPECT_EQ(front_header->n_hits + back_header->n_hits, header->n_hits);
      EXPECT_EQ(front_header->n_payload_words + back_header->n_payload_words, header->n_payload_words);
      EXPECT_EQ(back_header->hits_before, front_header->n_hits);
      auto items = items_of(front, stream);
      const auto rest = back_header->n_hits == 0 ? std::vector<Item>{} : items_of(back, stream);
      items.insert(items.end(), rest.begin(), rest.end());
      EXPECT_EQ(items, all);
    }
  }
}

}  // namespace
}  // namespace eventloom
