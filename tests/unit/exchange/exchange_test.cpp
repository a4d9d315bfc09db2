#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/exchange/inbox.hpp"
#include "core/exchange/lent_slices.hpp"
#include "core/exchange/outbox.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom {
namespace {

std::vector<std::byte> random_bytes(std::size_t n, std::mt19937_64& random) {
  std::vector<std::byte> bytes(n);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// For tests of data that never match their checksum.
const Patience kShort(100, std::chrono::nanoseconds(0));

/// Two ranks and one ring from the first to the second, over a fabric that delivers puts in any order and in pieces.
struct Pair {
  Pair(RingGeometry geometry, std::uint64_t seed, Outbox::BodyCrc crc = Outbox::BodyCrc::staged)
      : fabric({kCreditBytes, geometry.ring_bytes()}, seed),
        outbox(RingProducer({fabric.rank(0), fabric.rank(0)}, 1, 0, 0, geometry), crc),
        inbox({RingConsumer({fabric.rank(1), fabric.rank(1)}, 0, 0, 0, geometry, kShort)}) {}

  LoopbackFabric fabric;
  Outbox outbox;
  Inbox inbox;
};

struct TransferCase {
  std::uint32_t depth;
  std::uint32_t cell;
  std::size_t largest;
};

class EveryRing : public testing::TestWithParam<TransferCase> {};

// Bodies from zero to several times the ring's size, through every ring, in any order of delivery.
TEST_P(EveryRing, DeliversEveryMessageWholeAndInOrder) {
  const auto [depth, cell, largest] = GetParam();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Pair pair({depth, cell}, seed, seed % 4 < 2 ? Outbox::BodyCrc::staged : Outbox::BodyCrc::all);
    pair.fabric.set_near(seed % 3 == 0);
    std::mt19937_64 random(seed);
    SliceAssembler assembler(1);
    constexpr std::uint64_t kSlices = 40;
    std::vector<std::vector<std::byte>> sent;
    // Messages of equal length overwrite those of an earlier round, headers included.
    const auto length = [&, most = largest] {
      return seed % 2 == 0 ? most / 3 : random() % 4 == 0 ? 0 : random() % most;
    };
    for (std::uint64_t s = 0; s < kSlices; ++s) sent.push_back(random_bytes(length(), random));
    std::uint64_t next_send = 0;
    std::uint64_t next_take = 0;
    bool end_begun = false;
    for (std::size_t step = 0; step < 1'000'000 && next_take < kSlices; ++step) {
      if (next_send < kSlices && pair.outbox.accepts({next_send})) {
        const std::span<const std::byte> body(sent[next_send]);
        const std::size_t cut = body.empty() ? 0 : random() % body.size();
        pair.outbox.start({{next_send}, 0, next_send % 3 != 0, 0, {body.first(cut), body.subspan(cut)}});
        ++next_send;
      } else if (next_send == kSlices && !end_begun && pair.outbox.free()) {
        pair.outbox.start_end(0, {kSlices});
        end_begun = true;
      }
      pair.outbox.pump();
      if (random() % 3 == 0) pair.outbox.publish();
      if (random() % 8 == 0) pair.outbox.flush();
      pair.inbox.drain(assembler);
      pair.inbox.grant({next_take + 3}, true);
      if (random() % 8 == 0) pair.fabric.rank(1).flush_all();
      while (next_take < kSlices && assembler.complete({next_take})) {
        auto slice = assembler.take({next_take});
        const auto body = slice->part(0).body();
        ASSERT_EQ(body.size(), sent[next_take].size()) << "slice " << next_take;
        ASSERT_TRUE(std::ranges::equal(body, sent[next_take])) << "slice " << next_take;
        ASSERT_EQ(slice->has_more(), next_take % 3 != 0) << "slice " << next_take;
        assembler.recycle(std::move(slice));
        ++next_take;
      }
    }
    ASSERT_EQ(next_take, kSlices) << "depth " << depth << " cell " << cell << " seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryRing,
                         testing::Values(TransferCase{1, 256, 3000}, TransferCase{2, 256, 100},
                                         TransferCase{3, 4096, 20000}, TransferCase{8, 16384, 200000},
                                         TransferCase{64, 1024, 500}, TransferCase{4, 1024, 300}));

TEST(Outbox, RespectsTheWindowOfSlices) {
  Pair pair({8, 1024}, 1);
  EXPECT_FALSE(pair.outbox.accepts({0})) << "nothing is granted at the start";
  pair.inbox.grant({2}, true);
  pair.fabric.rank(1).flush_all();
  EXPECT_TRUE(pair.outbox.accepts({1}));
  EXPECT_FALSE(pair.outbox.accepts({2}));
}

TEST(Outbox, StopsWhenTheRingIsFullAndContinuesWithCredits) {
  Pair pair({2, 1024}, 1);
  std::mt19937_64 random(7);
  const auto body = random_bytes(5000, random);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  pair.outbox.start({{0}, 0, true, 0, {body}});
  pair.outbox.pump();
  pair.outbox.publish();
  EXPECT_FALSE(pair.outbox.free());
  EXPECT_FALSE(pair.outbox.pump()) << "a full ring accepts nothing";
  pair.outbox.flush();
  SliceAssembler assembler(1);
  EXPECT_EQ(pair.inbox.drain(assembler), 2U);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  EXPECT_TRUE(pair.outbox.pump());
}

// An intact descriptor is not enough: while the payload does not match its checksum, the cell waits.
/// Copies take at most 1 MiB: after that they are published without request.
TEST(Outbox, KeepsNoMoreCopiesThanItsBound) {
  for (const std::uint32_t cell : {1U << 18, 1U << 19, 1U << 20}) {
    const RingGeometry geometry{8, cell};
    Pair pair(geometry, 1);
    pair.inbox.grant({10'000}, true);
    pair.fabric.rank(1).flush_all();
    const std::vector<std::byte> body(3000);  // is copied
    const auto most = most_staged_cells(geometry);
    ASSERT_LT(most, geometry.depth);
    for (std::uint64_t slice = 0; pair.outbox.counters()[Metric::cells] < most; ++slice) {
      EXPECT_EQ(pair.outbox.counters()[Metric::notifications], 0U);
      ASSERT_TRUE(pair.outbox.accepts({slice}));
      pair.outbox.start({{slice}, 0, true, 0, {body}});
      pair.outbox.pump();
    }
    EXPECT_EQ(pair.outbox.counters()[Metric::notifications], 1U);
  }
}

TEST(Inbox, LeavesACellThatDoesNotMatchItsChecksum) {
  const RingGeometry geometry{4, 1024};
  Pair pair(geometry, 3);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  std::mt19937_64 random(5);
  const auto body = random_bytes(300, random);
  pair.outbox.start({{0}, 0, true, 0, {body}});
  pair.outbox.pump();
  pair.outbox.flush();
  auto window = pair.fabric.rank(1).window();
  auto& byte = window[geometry.cell_offset(0) + 17];
  SliceAssembler assembler(1);
  byte ^= std::byte{1};
  EXPECT_EQ(pair.inbox.drain(assembler), 0U);
  EXPECT_FALSE(assembler.complete({0}));
  byte ^= std::byte{1};
  EXPECT_EQ(pair.inbox.drain(assembler), 1U);
  EXPECT_TRUE(assembler.complete({0}));
}

// The notice may arrive before the data. The cell's contents are then intact, but belong to the previous round.
TEST(Inbox, LeavesTheContentsOfAnEarlierRound) {
  const RingGeometry geometry{1, 1024};
  Pair pair(geometry, 3, Outbox::BodyCrc::all);
  pair.inbox.grant({100}, true);
  pair.fabric.rank(1).flush_all();
  std::mt19937_64 random(5);
  SliceAssembler assembler(1);
  const auto cell = pair.fabric.rank(1).window().subspan(geometry.cell_offset(0), geometry.cell_bytes);
  std::vector<std::byte> earlier(cell.size());
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      // The checksum of the first body is in the descriptor: the same body in both rounds would be accepted.
      const auto body = i == 0 ? std::vector<std::byte>(100) : random_bytes(100, random);
      ASSERT_TRUE(pair.outbox.accepts({3 * round + i}));
      pair.outbox.start({{3 * round + i}, 0, true, 0, {body}});
      pair.outbox.pump();
    }
    pair.outbox.flush();
    if (round == 1) {
      std::ranges::swap_ranges(earlier, cell);
      EXPECT_EQ(pair.inbox.drain(assembler), 0U);
      std::ranges::copy(earlier, cell.begin());
    }
    std::ranges::copy(cell, earlier.begin());
    EXPECT_EQ(pair.inbox.drain(assembler), 1U);
    pair.inbox.grant({100}, true);
    pair.fabric.rank(1).flush_all();
  }
  EXPECT_TRUE(assembler.complete({5}));
}

TEST(Inbox, GivesUpOnACellThatNeverMatchesItsChecksum) {
  const RingGeometry geometry{4, 1024};
  for (const std::uint64_t place : {std::uint64_t{9}, geometry.cell_offset(0) + 17}) {  // descriptor, body
    Pair pair(geometry, 3);
    pair.inbox.grant({10}, true);
    pair.fabric.rank(1).flush_all();
    std::mt19937_64 random(5);
    const auto body = random_bytes(300, random);
    pair.outbox.start({{0}, 0, true, 0, {body}});
    pair.outbox.pump();
    pair.outbox.flush();
    pair.fabric.rank(1).window()[place] ^= std::byte{1};
    SliceAssembler assembler(1);
    for (int look = 1; look < 100; ++look) ASSERT_EQ(pair.inbox.drain(assembler), 0U);
    EXPECT_THROW(pair.inbox.drain(assembler), std::runtime_error) << "byte " << place;
  }
}

TEST(Inbox, RefusesASliceThatWasNotGranted) {
  Pair pair({4, 1024}, 3);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  pair.outbox.start({{10}, 0, true, 0, {}});
  pair.outbox.pump();
  pair.outbox.flush();
  SliceAssembler assembler(1);
  EXPECT_THROW(pair.inbox.drain(assembler), std::runtime_error);
}

// A descriptor is intact but states more than the cell holds: memory beyond the ring is not read.
TEST(RingConsumer, RefusesADescriptorOfMoreThanACell) {
  const RingGeometry geometry{4, 1024};
  struct Said {
    std::uint32_t bytes;
    std::uint32_t n_chunks;
  };
  for (const auto& [bytes, n_chunks] : {Said{1025, 1}, Said{0xffffffff, 1}, Said{1024, 23}, Said{0, 0xffffffff}}) {
    LoopbackFabric fabric({kCreditBytes, geometry.ring_bytes()}, 1);
    RingConsumer ring({fabric.rank(1), fabric.rank(1)}, 0, 0, 0, geometry);
    CellDescriptor descriptor;
    descriptor.sequence = 1;
    descriptor.bytes = bytes;
    descriptor.n_chunks = n_chunks;
    ChunkHeader{}.store(descriptor.first_header.data(), descriptor.sequence);
    descriptor.crc = descriptor.checksum();
    std::memcpy(fabric.rank(1).window().data(), &descriptor, sizeof descriptor);
    EXPECT_THROW((void)ring.poll(), std::runtime_error) << bytes << " bytes, " << n_chunks << " chunks";
  }
}

// Damage records travel with a checksum although the epoch buffer after them is put from where it lies and has its own.
TEST(Outbox, DamageRecordsAreAlwaysCoveredByAChecksum) {
  for (const std::size_t n : {1U, 3U, 40U, 300U}) {
    const RingGeometry geometry{8, 16384};
    Pair pair(geometry, 3);
    pair.inbox.grant({10}, true);
    pair.fabric.rank(1).flush_all();
    std::mt19937_64 random(n);
    const std::vector<Damage> damage(n, Damage{.first_epoch = 7, .n_epochs = 2, .n_hits = 5});
    const auto buffer = random_bytes(6000, random);
    pair.outbox.start({{0}, 0, true, static_cast<std::uint32_t>(n), {std::as_bytes(std::span(damage)), buffer}});
    pair.outbox.pump();
    pair.outbox.flush();
    auto& cause = pair.fabric.rank(1).window()[geometry.cell_offset(0) + offsetof(Damage, cause)];
    cause ^= std::byte{0x40};
    SliceAssembler assembler(1);
    EXPECT_EQ(pair.inbox.drain(assembler), 0U) << n << " records";
    cause ^= std::byte{0x40};
    EXPECT_EQ(pair.inbox.drain(assembler), 1U);
    ASSERT_TRUE(assembler.complete({0}));
    const auto slice = assembler.take({0});
    EXPECT_EQ(slice->part(0).damage().size(), n);
    EXPECT_TRUE(std::ranges::equal(slice->part(0).buffers(), buffer));
  }
}

// Of lent data, the ring carries the notice and the damage alone.
TEST(Outbox, ALoanIsANotice) {
  for (const std::uint32_t n : {0U, 2U}) {
    Pair pair({4, 1024}, 3);
    pair.inbox.grant({10}, true);
    pair.fabric.rank(1).flush_all();
    const std::vector<Damage> damage(n, Damage{.first_epoch = 7, .n_epochs = 2, .n_hits = 5});
    Message message{{0}, 0, true, n, {std::as_bytes(std::span(damage))}};
    message.lent_bytes = 1'000'000;
    pair.outbox.start(message);
    pair.outbox.pump();
    pair.outbox.flush();
    EXPECT_TRUE(pair.outbox.free());
    EXPECT_EQ(pair.outbox.counters()[Metric::message_bytes], 1'000'000 + n * sizeof(Damage));
    EXPECT_LE(pair.outbox.counters()[Metric::cell_bytes], 1024U);
    SliceAssembler assembler(1);
    EXPECT_EQ(pair.inbox.drain(assembler), 1U);
    ASSERT_TRUE(assembler.complete({0}));
    auto slice = assembler.take({0});
    EXPECT_TRUE(slice->has_more());
    EXPECT_TRUE(slice->part(0).lent);
    EXPECT_EQ(slice->part(0).damage().size(), n);
    EXPECT_TRUE(slice->part(0).buffers().empty());
    assembler.recycle(std::move(slice));
    assembler.place({.slice = 1}, {});
    EXPECT_FALSE(assembler.take({1})->part(0).lent) << "the memory of an earlier slice serves again";
  }
}

TEST(SliceAssembler, RefusesALoanThatContradictsItself) {
  SliceAssembler assembler(1);
  const std::vector<std::byte> body(2 * sizeof(Damage));
  ChunkHeader chunk{.bytes = sizeof(Damage), .kind = ChunkHeader::kLent, .has_body_crc = 1, .n_damage = 1};
  chunk.total_bytes = body.size();
  EXPECT_THROW(assembler.place(chunk, std::span(body).first(sizeof(Damage))), std::runtime_error) << "more than damage";
  chunk.n_damage = 2;
  assembler.place(chunk, std::span(body).first(sizeof(Damage)));
  chunk.kind = ChunkHeader::kData;
  chunk.offset = sizeof(Damage);
  EXPECT_THROW(assembler.place(chunk, std::span(body).last(sizeof(Damage))), std::runtime_error) << "half a loan";
}

TEST(Inbox, RefusesALoanBeyondTheSliceLimit) {
  Pair pair({4, 1024}, 3);
  pair.inbox.grant({2}, true);
  pair.fabric.rank(1).flush_all();
  Message message{{2}, 0, true, 0, {}};
  message.lent_bytes = 8;
  pair.outbox.start(message);
  pair.outbox.pump();
  pair.outbox.flush();
  SliceAssembler assembler(1);
  EXPECT_THROW(pair.inbox.drain(assembler), std::runtime_error);
}

TEST(LentSlices, AreKeptUntilTheyAreGivenBack) {
  alignas(8) const std::array<std::byte, 64> memory{};
  const LentSlices::Pieces whole{memory};
  const LentSlices::Pieces halves{std::span(memory).first(32), std::span(memory).last(32)};
  LentSlices lent({}, 0);
  EXPECT_EQ(lent.first(1, {9}), SliceId{9});
  lent.lend({4}, 1, whole);
  lent.lend({3}, 0, halves);
  lent.lend({3}, 1, whole);
  EXPECT_EQ(lent.first(1, {9}), SliceId{3});
  EXPECT_EQ(lent.first(2, {9}), SliceId{9});
  EXPECT_EQ(lent.pieces({3}, 0).size(), 2U);
  EXPECT_EQ(lent.pieces({3}, 1).front().data(), memory.data());
  EXPECT_THROW((void)lent.pieces({4}, 0), std::runtime_error);
  EXPECT_THROW((void)lent.pieces({5}, 1), std::runtime_error);
  lent.give_back({3});
  EXPECT_EQ(lent.first(0, {9}), SliceId{9});
  EXPECT_EQ(lent.first(1, {9}), SliceId{4});
  EXPECT_THROW((void)lent.pieces({3}, 1), std::runtime_error);
  lent.give_back({8});
  EXPECT_EQ(lent.pieces({4}, 1).size(), 1U);
}

TEST(LentSlices, AreCopiedWhenTheyAreRecalled) {
  std::mt19937_64 random(1);
  auto memory = random_bytes(104, random);
  const auto before = memory;
  const std::span<const std::byte> bytes(memory);
  LentSlices lent({}, 0);
  lent.lend({3}, 0, {bytes.first(40), bytes.subspan(40, 64)});
  lent.lend({5}, 0, {bytes.first(8)});
  lent.lend({3}, 1, {bytes});
  for (int twice = 0; twice < 2; ++twice) {
    lent.recall(0);
    EXPECT_EQ(lent.first(0, {9}), SliceId{9}) << "the source may release its memory";
    EXPECT_EQ(lent.first(1, {9}), SliceId{3});
    std::ranges::fill(memory, std::byte{0xdd});
    ASSERT_EQ(lent.pieces({3}, 0).size(), 1U);
    EXPECT_TRUE(std::ranges::equal(lent.pieces({3}, 0).front(), before));
    EXPECT_TRUE(std::ranges::equal(lent.pieces({5}, 0).front(), std::span(before).first(8)));
    EXPECT_EQ(lent.pieces({3}, 1).front().data(), memory.data());
  }
  lent.lend({6}, 0, {bytes.first(8)});
  EXPECT_EQ(lent.first(0, {9}), SliceId{6});
}

TEST(LentSlices, AreLentToSomeBuildersAndOnlyIfManyAndAligned) {
  alignas(8) const std::array<std::byte, 64> memory{};
  const LentSlices::Pieces aligned{std::span(memory).first(8), std::span(memory).subspan(8)};
  const LentSlices::Pieces shifted{memory, std::span(memory).subspan(4)};
  const LentSlices::Pieces few{std::span(memory).first(56)};
  EXPECT_FALSE(LentSlices({}, 64).can_lend(0, aligned));
  const LentSlices lent({0, 1}, 64);
  EXPECT_FALSE(lent.can_lend(0, aligned));
  EXPECT_TRUE(lent.can_lend(1, aligned));
  EXPECT_FALSE(lent.can_lend(1, shifted));
  EXPECT_FALSE(lent.can_lend(1, few));
}

TEST(Inbox, LeavesADescriptorThatDoesNotProveItself) {
  const RingGeometry geometry{4, 1024};
  Pair pair(geometry, 3);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  pair.outbox.start({{0}, 0, true, 0, {}});
  pair.outbox.pump();
  pair.outbox.flush();
  auto window = pair.fabric.rank(1).window();
  SliceAssembler assembler(1);
  window[9] ^= std::byte{4};  // in the first descriptor
  EXPECT_EQ(pair.inbox.drain(assembler), 0U);
  window[9] ^= std::byte{4};
  EXPECT_EQ(pair.inbox.drain(assembler), 1U);
}

TEST(RingProducer, IgnoresACreditThatDoesNotProveItself) {
  Pair pair({4, 1024}, 3);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  auto window = pair.fabric.rank(0).window();
  window[sizeof(CreditBlock) + 8] ^= std::byte{0xff};
  EXPECT_FALSE(pair.outbox.accepts({0})) << "the damaged slice limit must not count";
}

TEST(RingProducer, RefusesACreditForWhatItNeverSent) {
  Pair pair({4, 1024}, 3);
  CreditBlock credit;
  credit.released = 1;
  credit.slice_limit = 10;
  credit.number = 1;
  credit.crc = credit.checksum();
  std::memcpy(pair.fabric.rank(0).window().data() + sizeof credit, &credit, sizeof credit);
  EXPECT_THROW((void)pair.outbox.accepts({0}), std::runtime_error);
}

/// Puts arrive in any order: the second grant may be visible before the first.
TEST(RingProducer, TakesGrantsInTheirOrder) {
  const RingGeometry geometry{4, 256};
  LoopbackFabric fabric({kCreditBytes, geometry.ring_bytes()}, 3);
  RingProducer producer({fabric.rank(0), fabric.rank(0)}, 1, 0, 0, geometry);
  for (int cell = 0; cell < 3; ++cell) {
    producer.claim();
    producer.commit(0, 1, {}, Proof::checksum);
  }
  producer.flush();
  const auto see = [&](std::uint64_t number, std::uint64_t released, std::uint64_t slice_limit) {
    CreditBlock credit;
    credit.released = released;
    credit.slice_limit = slice_limit;
    credit.number = number;
    credit.crc = credit.checksum();
    const auto place = number % kCreditPlaces * sizeof credit;
    std::memcpy(fabric.rank(0).window().data() + place, &credit, sizeof credit);
  };
  see(2, 2, 12);
  EXPECT_EQ(producer.credits(), 1U);
  EXPECT_FALSE(producer.admits(0));
  see(1, 1, 10);
  EXPECT_EQ(producer.credits(), 3U);
  EXPECT_TRUE(producer.admits(11));
  EXPECT_FALSE(producer.admits(12));
  see(11, 3, 14);
  EXPECT_EQ(producer.credits(), 4U) << "the third was overwritten by the eleventh";
  see(12, 1, 14);
  EXPECT_THROW((void)producer.credits(), std::runtime_error) << "a cell is reclaimed";
}

/// A grant for each cell would cost more than the cells: grants wait until half of the ring is free, unless they are
/// urgent.
TEST(RingConsumer, GrantsHalfARingAtOnce) {
  const RingGeometry geometry{4, 256};
  LoopbackFabric fabric({kCreditBytes, geometry.ring_bytes()}, 3);
  RingProducer producer({fabric.rank(0), fabric.rank(0)}, 1, 0, 0, geometry);
  RingConsumer consumer({fabric.rank(1), fabric.rank(1)}, 0, 0, 0, geometry);
  for (int cell = 0; cell < 4; ++cell) {
    producer.claim();
    producer.commit(0, 1, {}, Proof::checksum);
  }
  producer.flush();
  const auto release = [&](bool eager) {
    while (!consumer.poll()) fabric.rank(0).progress();
    consumer.release();
    consumer.grant(eager);
    fabric.rank(1).flush_all();
    return producer.credits();
  };
  EXPECT_EQ(release(false), 0U);
  EXPECT_EQ(release(false), 2U);
  EXPECT_EQ(release(false), 2U);
  EXPECT_EQ(release(true), 4U);
}

// MPI may read the source of a put until it is flushed; the fabric throws if one was changed earlier. A whole ring is
// published at once, and its credits return before the next flush.
TEST(RingProducer, DescriptorsStayUntilTheirPutIsFlushed) {
  for (const std::uint32_t depth : {1U, 2U, 5U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const RingGeometry geometry{depth, 256};
      LoopbackFabric fabric({kCreditBytes, geometry.ring_bytes()}, seed);
      RingProducer producer({fabric.rank(0), fabric.rank(0)}, 1, 0, 0, geometry);
      RingConsumer consumer({fabric.rank(1), fabric.rank(1)}, 0, 0, 0, geometry);
      for (std::uint64_t sent = 0, got = 0; got < 50;) {
        for (; producer.credits() > 0; ++sent) {
          producer.claim();
          producer.commit(0, 1, {}, Proof::checksum);
        }
        producer.publish();
        for (; got < sent; ++got) {
          while (!consumer.poll()) fabric.rank(0).progress();
          consumer.release();
        }
        consumer.grant(true);
        fabric.rank(1).flush_all();
      }
    }
  }
}

TEST(SliceAssembler, RefusesWhatCannotBe) {
  const std::vector<std::byte> body(64);
  const auto refused = [&](ChunkHeader header, std::size_t bytes) {
    SliceAssembler assembler(2);
    header.bytes = static_cast<std::uint32_t>(bytes);
    EXPECT_THROW(assembler.place(header, std::span(body).first(bytes)), std::runtime_error);
  };
  refused({.total_bytes = 8}, 16);
  refused({.total_bytes = std::uint64_t{1} << 60}, 8);
  refused({.total_bytes = std::numeric_limits<std::uint64_t>::max()}, 8);
  refused({.total_bytes = 64, .offset = 32}, 32);
  refused({.total_bytes = 8, .origin = 2}, 8);
  refused({.total_bytes = 8, .kind = 3}, 8);
  refused({.total_bytes = 32, .has_body_crc = 1, .n_damage = 2}, 32);
  refused({.total_bytes = 64, .has_body_crc = 0, .n_damage = 1}, 64);
  refused({.total_bytes = 32, .kind = ChunkHeader::kEnd, .has_body_crc = 1, .n_damage = 2}, 32);
}

TEST(SliceAssembler, RefusesALossOfUnknownCause) {
  Damage damage;
  damage.cause = static_cast<DropCause>(kDropCauses);
  const auto body = std::as_bytes(std::span(&damage, 1));
  ChunkHeader header{.total_bytes = sizeof damage, .bytes = sizeof damage, .has_body_crc = 1, .n_damage = 1};
  SliceAssembler assembler(1);
  EXPECT_THROW(assembler.place(header, body), std::runtime_error);
  header.kind = ChunkHeader::kEnd;
  SliceAssembler other(1);
  EXPECT_THROW(other.place(header, body), std::runtime_error);
}

TEST(SliceAssembler, RefusesWhatComesAfterTheEndOrTheSlice) {
  SliceAssembler assembler(2);
  assembler.place({.slice = 4}, {});
  assembler.place({.slice = 4, .origin = 1}, {});
  assembler.recycle(assembler.take({4}));
  EXPECT_THROW(assembler.place({.slice = 4}, {}), std::runtime_error) << "it has been built";
  assembler.place({.slice = 5, .kind = ChunkHeader::kEnd}, {});
  EXPECT_THROW(assembler.place({.slice = 6}, {}), std::runtime_error) << "the origin has ended";
  EXPECT_THROW(assembler.place({.slice = 5, .kind = ChunkHeader::kEnd}, {}), std::runtime_error);
}

TEST(SliceAssembler, KnowsASliceCompleteWhenAllOriginsSentOrEnded) {
  SliceAssembler assembler(3);
  ChunkHeader chunk;
  chunk.slice = 4;
  chunk.has_more = 1;
  assembler.place(chunk, {});
  EXPECT_FALSE(assembler.complete({4}));
  chunk.origin = 1;
  assembler.place(chunk, {});
  EXPECT_FALSE(assembler.complete({4}));
  ChunkHeader end;
  end.kind = ChunkHeader::kEnd;
  end.origin = 2;
  end.slice = 3;
  assembler.place(end, {});
  EXPECT_TRUE(assembler.complete({4}));
  EXPECT_FALSE(assembler.all_ended());
  EXPECT_EQ(assembler.data_end().value, 3U);
}

TEST(SliceAssembler, KnowsWhetherASliceIsAfterTheEndOfAllOrigins) {
  SliceAssembler assembler(2);
  const auto place = [&](std::uint64_t slice, bool first_has_more, bool second_has_more) {
    for (const std::uint32_t origin : {0U, 1U}) {
      ChunkHeader chunk;
      chunk.slice = slice;
      chunk.origin = origin;
      chunk.has_more = (origin == 0 ? first_has_more : second_has_more) ? 1 : 0;
      assembler.place(chunk, {});
    }
    auto assembly = assembler.take({slice});
    const bool has_more = assembly->has_more();
    assembler.recycle(std::move(assembly));
    return has_more;
  };
  EXPECT_TRUE(place(0, true, true));
  EXPECT_TRUE(place(1, false, true));
  EXPECT_TRUE(place(2, true, false));
  EXPECT_FALSE(place(3, false, false)) << "its memory is that of an earlier slice";
}

std::vector<std::byte> gap_body(std::uint64_t end) {
  std::vector<std::byte> body(sizeof end);
  std::memcpy(body.data(), &end, sizeof end);
  return body;
}

void place_gap(SliceAssembler& assembler, std::uint32_t origin, SliceRange gap) {
  ChunkHeader chunk;
  chunk.kind = ChunkHeader::kGap;
  chunk.origin = origin;
  chunk.slice = gap.begin.value;
  chunk.total_bytes = chunk.bytes = sizeof gap.end.value;
  chunk.has_body_crc = 1;
  assembler.place(chunk, gap_body(gap.end.value));
}

void place_data(SliceAssembler& assembler, std::uint32_t origin, std::uint64_t slice) {
  ChunkHeader chunk;
  chunk.origin = origin;
  chunk.slice = slice;
  assembler.place(chunk, {});
}

TEST(SliceAssembler, KnowsHowFarThereIsNothing) {
  SliceAssembler assembler(2);
  place_gap(assembler, 0, {{3}, {1'000'000'000'000}});
  EXPECT_FALSE(assembler.complete({4}));
  EXPECT_EQ(assembler.nothing_up_to(0, {4}), SliceId{1'000'000'000'000});
  EXPECT_EQ(assembler.nothing_up_to(1, {4}), SliceId{4});
  EXPECT_EQ(assembler.nothing_up_to({4}), SliceId{4});
  place_data(assembler, 1, 4);
  EXPECT_TRUE(assembler.complete({4}));
  EXPECT_TRUE(assembler.holds({4}));
  assembler.recycle(assembler.take({4}));
  place_gap(assembler, 1, {{6}, {500}});
  EXPECT_TRUE(assembler.complete({6}));
  EXPECT_FALSE(assembler.holds({6}));
  EXPECT_EQ(assembler.nothing_up_to({6}), SliceId{500});
  EXPECT_EQ(assembler.nothing_up_to({2}), SliceId{2}) << "before the gaps";
}

TEST(SliceAssembler, TheEndOfTheDataIsThatOfTheLastOrigin) {
  SliceAssembler assembler(2);
  assembler.place({.slice = 7, .kind = ChunkHeader::kEnd}, {});
  EXPECT_EQ(assembler.nothing_up_to({7}).value, 7U) << "the other source may have data";
  assembler.place({.slice = 3, .origin = 1, .kind = ChunkHeader::kEnd}, {});
  EXPECT_EQ(assembler.data_end().value, 7U);
  EXPECT_EQ(assembler.nothing_up_to({6}).value, 6U);
  EXPECT_EQ(assembler.nothing_up_to({7}).value, std::numeric_limits<std::uint64_t>::max());
}

TEST(SliceAssembler, RemembersAllGapsThatAreAhead) {
  SliceAssembler assembler(1);
  place_gap(assembler, 0, {{3}, {100}});
  place_gap(assembler, 0, {{101}, {200}});
  ChunkHeader end;
  end.kind = ChunkHeader::kEnd;
  end.slice = 201;
  assembler.place(end, {});
  EXPECT_EQ(assembler.nothing_up_to({3}), SliceId{100});
  EXPECT_EQ(assembler.nothing_up_to({150}), SliceId{200});
  EXPECT_EQ(assembler.nothing_up_to({100}), SliceId{100});
}

TEST(SliceAssembler, AGapMayLieInDamage) {
  Pair pair({4, 1024}, 3);
  SliceAssembler assembler(1);
  pair.inbox.grant({10}, true);
  pair.fabric.rank(1).flush_all();
  const std::vector<Damage> damage{{.first_epoch = 7, .n_epochs = 1'000'000, .n_hits = 5}};
  pair.outbox.start_gap(0, {{2}, {900}}, damage);
  pair.outbox.pump();
  pair.outbox.flush();
  for (int i = 0; i < 100 && !assembler.complete({2}); ++i) {
    pair.fabric.rank(0).progress();
    pair.inbox.drain(assembler);
  }
  EXPECT_EQ(assembler.nothing_up_to(0, {2}), SliceId{900});
  const auto inside = assembler.take({899});
  ASSERT_EQ(inside->part(0).damage().size(), 1U);
  EXPECT_EQ(inside->part(0).damage()[0].n_hits, 5U);
  EXPECT_TRUE(inside->part(0).buffers().empty());
  EXPECT_TRUE(assembler.take({900})->part(0).damage().empty());
}

TEST(SliceAssembler, ForgetsGapsThatArePassed) {
  SliceAssembler assembler(1);
  place_gap(assembler, 0, {{3}, {100}});
  place_gap(assembler, 0, {{101}, {200}});
  assembler.pass({100});
  EXPECT_EQ(assembler.nothing_up_to({50}), SliceId{50});
  EXPECT_EQ(assembler.nothing_up_to({150}), SliceId{200});
  place_gap(assembler, 0, {{20}, {30}});
  EXPECT_EQ(assembler.nothing_up_to({25}), SliceId{25}) << "it lies before everything that will be accepted";
}

/// Builders report a gap while they are still building earlier slices, which may turn out empty as well.
TEST(SliceAssembler, FindsGapsInWhateverOrderTheyCome) {
  SliceAssembler assembler(1);
  place_gap(assembler, 0, {{50}, {100}});
  place_gap(assembler, 0, {{49}, {50}});
  place_gap(assembler, 0, {{60}, {61}});
  EXPECT_EQ(assembler.nothing_up_to(0, {49}), SliceId{50});
  EXPECT_EQ(assembler.nothing_up_to(0, {50}), SliceId{100});
  EXPECT_EQ(assembler.nothing_up_to(0, {61}), SliceId{100});
  EXPECT_EQ(assembler.nothing_up_to(0, {48}), SliceId{48});
  assembler.pass({61});
  EXPECT_EQ(assembler.nothing_up_to(0, {61}), SliceId{100});
}

TEST(SliceAssembler, RefusesWhatWouldNeverBeTaken) {
  const auto place = [](SliceAssembler& assembler, std::uint64_t slice) {
    ChunkHeader header;
    header.slice = slice;
    header.has_body_crc = 1;
    assembler.place(header, {});
  };
  SliceAssembler passed(1);
  passed.pass({7});
  EXPECT_THROW(place(passed, 6), std::runtime_error);
  SliceAssembler continued(1);
  place_gap(continued, 0, {{3}, {9}});
  EXPECT_THROW(place(continued, 8), std::runtime_error);
  place(continued, 9);
  EXPECT_TRUE(continued.complete({9}));
}

TEST(SliceAssembler, RefusesGapsThatCannotBe) {
  const auto refused = [](ChunkHeader header, std::uint64_t end, std::size_t bytes) {
    SliceAssembler assembler(1);
    auto body = gap_body(end);
    body.resize(bytes);
    header.slice = 5;
    header.kind = ChunkHeader::kGap;
    header.bytes = static_cast<std::uint32_t>(bytes);
    EXPECT_THROW(assembler.place(header, body), std::runtime_error);
  };
  refused({.total_bytes = 8, .has_body_crc = 1}, 5, 8);
  refused({.total_bytes = 8, .has_body_crc = 0}, 9, 8);
  refused({.total_bytes = 4, .has_body_crc = 1}, 9, 4);
  refused({.total_bytes = 40, .has_body_crc = 1}, 9, 8);
  refused({.total_bytes = 39, .has_body_crc = 1}, 9, 39);
}

TEST(SliceAssembler, RefusesAChunkThatComesTwice) {
  SliceAssembler assembler(1);
  ChunkHeader chunk;
  const std::vector<std::byte> body(8);
  chunk.total_bytes = 16;
  chunk.bytes = 8;
  assembler.place(chunk, body);
  EXPECT_THROW(assembler.place(chunk, body), std::runtime_error);
  chunk.origin = 9;
  EXPECT_THROW(assembler.place(chunk, body), std::runtime_error);
}

}  // namespace
}  // namespace eventloom
