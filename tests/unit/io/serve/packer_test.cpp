#include <gtest/gtest.h>

#include <memory>

#include "io/serve/mbs_sender_packer.hpp"
#include "mbs_events.hpp"

namespace eventloom::test {
namespace {

constexpr MbsLayout kVariable{.native = false, .buffer_bytes = 1024};
constexpr MbsLayout kNative{.native = true, .buffer_bytes = 1024, .buffers_per_stream = 4};

std::vector<std::unique_ptr<MadeEvent>> make_events(std::initializer_list<std::size_t> halfwords) {
  std::vector<std::unique_ptr<MadeEvent>> events;
  for (const auto size : halfwords) {
    events.push_back(std::make_unique<MadeEvent>(static_cast<std::uint32_t>(events.size() + 1), size));
  }
  return events;
}

std::vector<std::vector<std::byte>> bytes_of(const std::vector<std::unique_ptr<MadeEvent>>& events) {
  std::vector<std::vector<std::byte>> bytes;
  for (const auto& event : events) bytes.push_back(event->bytes());
  return bytes;
}

std::vector<MbsGroupPtr> pack(const MbsLayout& layout, const std::vector<std::unique_ptr<MadeEvent>>& events) {
  MbsPacker packer(layout);
  std::vector<MbsGroupPtr> groups;
  for (const auto& event : events) {
    EXPECT_TRUE(packer.can_hold(event->bytes().size()));
    if (auto full = packer.add(event->event)) groups.push_back(std::move(full));
  }
  if (auto last = packer.flush()) groups.push_back(std::move(last));
  return groups;
}

std::vector<ReadBuffer> buffers_of(const std::vector<MbsGroupPtr>& groups) {
  std::vector<ReadBuffer> buffers;
  for (const auto& group : groups) {
    for (auto& buffer : read_buffers(group->bytes)) buffers.push_back(std::move(buffer));
  }
  return buffers;
}

TEST(MbsPacker, HandshakeStatesTheLayoutInItsByteOrder) {
  const auto words = [](const MbsLayout& layout) {
    const auto bytes = encode_mbs_handshake(layout);
    std::array<std::uint32_t, 4> found{};
    std::memcpy(found.data(), bytes.data(), sizeof found);
    return found;
  };
  EXPECT_EQ(words(kVariable), (std::array<std::uint32_t, 4>{1, 1024, 1, 0}));
  EXPECT_EQ(words(kNative), (std::array<std::uint32_t, 4>{1, 1024, 4, 1}));
  auto big = kNative;
  big.big_endian = true;
  EXPECT_EQ(words(big), (std::array<std::uint32_t, 4>{1U << 24, 4U << 16, 4U << 24, 1U << 24}));
}

TEST(MbsPacker, VariableBuffersAreAsLongAsWhatIsInThem) {
  const auto events = make_events({101, 3, 0, 450, 470});
  const auto groups = pack(kVariable, events);
  const auto buffers = buffers_of(groups);
  ASSERT_EQ(groups.size(), 3U);
  ASSERT_EQ(buffers.size(), 3U);
  EXPECT_EQ(read_events(buffers), bytes_of(events));
  EXPECT_EQ(groups[0]->events, 3U);
  EXPECT_EQ(groups[0]->event_bytes, 28U * 3 + 208);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto& header = buffers[i].header;
    EXPECT_TRUE(header.element.is(100, 1));
    EXPECT_EQ(header.element.dlen, header.used_long);
    EXPECT_EQ(groups[i]->bytes.size(), kLmdHeaderBytes + 2 * header.used_long);
    EXPECT_EQ(header.number, i + 1);
    EXPECT_EQ(header.continues + header.has_more, 0);
  }
}

TEST(MbsPacker, AVariableBufferIsFilledToItsEnd) {
  const std::size_t whole = (1024 - kLmdHeaderBytes - 28) / 2;
  EXPECT_EQ(pack(kVariable, make_events({whole}))[0]->bytes.size(), 1024U);
  EXPECT_EQ(pack(kVariable, make_events({whole - 14, 0})).size(), 1U);
  EXPECT_EQ(pack(kVariable, make_events({whole - 13, 0})).size(), 2U);
  EXPECT_FALSE(MbsPacker(kVariable).can_hold(28 + 2 * whole + 2));
}

TEST(MbsPacker, NativeEventsContinueInTheNextBuffer) {
  const auto events = make_events({300, 300, 700, 1, 200});
  const auto groups = pack(kNative, events);
  ASSERT_EQ(groups.size(), 1U);
  const auto buffers = read_buffers(groups[0]->bytes);
  EXPECT_EQ(groups[0]->bytes.size(), 1024 * buffers.size());
  EXPECT_EQ(groups[0]->buffers, buffers.size());
  EXPECT_EQ(read_events(buffers), bytes_of(events));
  std::uint32_t before = 0;
  for (const auto& [header, used] : buffers) {
    EXPECT_TRUE(header.element.is(10, 1));
    EXPECT_EQ(header.element.dlen, (1024 - kLmdHeaderBytes) / 2);
    EXPECT_EQ(header.continues, before);
    before = header.has_more;
  }
  EXPECT_EQ(buffers[0].header.last_dlen, 310U);  // the second event continues
  EXPECT_EQ(buffers[0].header.elements, 2U);
  EXPECT_EQ(buffers.back().header.last_dlen, 0U);
}

TEST(MbsPacker, NoEventReachesOutOfANativeStream) {
  std::vector<std::unique_ptr<MadeEvent>> events;
  for (std::uint32_t n = 1; n <= 300; ++n) events.push_back(std::make_unique<MadeEvent>(n, n * 37 % 1200));
  const auto groups = pack(kNative, events);
  EXPECT_GT(groups.size(), 20U);
  for (const auto& group : groups) {
    const auto buffers = read_buffers(group->bytes);
    EXPECT_LE(buffers.size(), 4U);
    EXPECT_EQ(buffers.front().header.continues, 0);
    EXPECT_EQ(buffers.back().header.has_more, 0);
    EXPECT_EQ(read_events(buffers).size(), group->events);
  }
  EXPECT_EQ(read_events(buffers_of(groups)), bytes_of(events));
}

TEST(MbsPacker, TheLargestEventFillsAStream) {
  const auto largest = MbsPacker(kNative).largest_event();
  EXPECT_EQ(largest, 976U + 3 * 968U);
  const auto halfwords = static_cast<std::size_t>(largest - 28) / 2;
  const auto events = make_events({1, halfwords, 1});
  const auto groups = pack(kNative, events);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1]->buffers, 4U);
  EXPECT_EQ(read_events(buffers_of(groups)), bytes_of(events));
  EXPECT_FALSE(MbsPacker(kNative).can_hold(largest + 2));
}

TEST(MbsPacker, AFirstFragmentHoldsMoreThanAHeader) {
  for (std::size_t left = 0; left <= 40; left += 2) {
    const auto events = make_events({(976 - 28 - left) / 2, 50});
    const auto buffers = buffers_of(pack(kNative, events));
    EXPECT_EQ(read_events(buffers), bytes_of(events)) << left;
    EXPECT_EQ(buffers[0].header.has_more, left >= 24 ? 1 : 0) << left;
  }
}

TEST(MbsPacker, StreamsAreFilledUpWithEmptyBuffers) {
  auto layout = kNative;
  layout.full_streams = true;
  const auto groups = pack(layout, make_events({300}));
  const auto buffers = buffers_of(groups);
  ASSERT_EQ(buffers.size(), 4U);
  EXPECT_EQ(groups[0]->events, 1U);
  for (std::uint32_t i = 1; i < 4; ++i) {
    EXPECT_EQ(buffers[i].header.used(), 0U);
    EXPECT_EQ(buffers[i].header.elements, 0U);
    EXPECT_EQ(buffers[i].header.number, i + 1);
  }
}

TEST(MbsPacker, SignsOfLifeAreEmptyBuffers) {
  MbsPacker packer(kNative);
  EXPECT_EQ(packer.flush(), nullptr);
  const auto group = packer.keep_alive();
  EXPECT_FALSE(packer.has_begun());
  EXPECT_EQ(group->events, 0U);
  ASSERT_EQ(group->bytes.size(), 1024U);
  EXPECT_EQ(read_buffers(group->bytes)[0].header.used(), 0U);
}

TEST(MbsPacker, UsedWordsAreWhereTheLengthSaysTheyAre) {
  const auto header = [](std::uint32_t buffer_bytes) {
    const MbsLayout layout{.native = true, .buffer_bytes = buffer_bytes, .buffers_per_stream = 1};
    return load_lmd<LmdBufferHeader>(pack(layout, make_events({100}))[0]->bytes);
  };
  EXPECT_EQ(header(32768).used_short, 114);
  EXPECT_EQ(header(32768).used_long, 0U);
  EXPECT_EQ(header(65536).used_short, 0);
  EXPECT_EQ(header(65536).used_long, 114U);
}

TEST(MbsPacker, TheOtherByteOrderSwapsEachWord) {
  for (const bool native : {false, true}) {
    auto little = native ? kNative : kVariable;
    auto big = little;
    big.big_endian = true;
    const auto events = make_events({101, 300});
    const auto group = pack(big, events)[0];
    std::vector<std::byte> swapped(group->bytes.size());
    swap_lmd_words(group->bytes, swapped.data());
    EXPECT_NE(swapped, group->bytes);
    EXPECT_EQ(read_events(read_buffers(swapped)), bytes_of(events)) << native;
  }
}

}  // namespace
}  // namespace eventloom::test
