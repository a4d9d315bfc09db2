#include "core/exchange/note_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "formats/control_wire.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom {
namespace {

using Note = std::vector<std::byte>;

constexpr std::uint64_t kMost = 200;  // bytes of a note

Note random_note(std::size_t bytes, std::mt19937_64& random) {
  Note note(bytes);
  for (auto& b : note) b = static_cast<std::byte>(random());
  return note;
}

/// Two ranks and a ring of notes from the first to the second.
struct NotePair {
  NotePair(std::uint32_t depth, std::uint64_t seed)
      : geometry{depth, note_cell_bytes(kMost)},
        fabric({kCreditBytes, geometry.ring_bytes()}, seed),
        sender(RingProducer({fabric.rank(0), fabric.rank(0)}, 1, 0, 0, geometry)),
        receiver(RingConsumer({fabric.rank(1), fabric.rank(1)}, 0, 0, 0, geometry,
                              Patience(100, std::chrono::nanoseconds(0)))) {}

  RingGeometry geometry;
  LoopbackFabric fabric;
  NoteSender sender;
  NoteReceiver receiver;
};

TEST(NoteRing, ACellHoldsTheNoteAndItsChecksum) {
  EXPECT_EQ(note_cell_bytes(0), 64U);
  EXPECT_EQ(note_cell_bytes(60), 64U);
  EXPECT_EQ(note_cell_bytes(61), 128U);
}

TEST(NoteRing, EveryNoteArrivesOnceAndInOrder) {
  for (const std::uint32_t depth : {1U, 2U, 5U, 16U}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      NotePair pair(depth, seed);
      std::mt19937_64 random(seed);
      std::vector<Note> sent;
      // Notes of equal length overwrite those of an earlier round.
      const auto length = [&] { return seed % 2 == 0 ? kMost / 2 : random() % (kMost + 1); };
      for (int i = 0; i < 50; ++i) sent.push_back(random_note(length(), random));
      std::size_t n_sent = 0;
      std::size_t n_got = 0;
      for (int step = 0; step < 100'000 && n_got < sent.size(); ++step) {
        if (n_sent < sent.size() && random() % 2 == 0 && pair.sender.has_room()) {
          auto note = sent[n_sent++];
          pair.sender.send(note);
          std::ranges::fill(note, std::byte{0xee});  // it was copied
        }
        if (random() % 4 == 0) pair.fabric.rank(0).flush_all();
        pair.fabric.rank(0).progress();
        if (random() % 2 == 0) {
          if (const auto note = pair.receiver.poll()) {
            ASSERT_LT(n_got, n_sent);
            ASSERT_TRUE(std::ranges::equal(*note, sent[n_got])) << "note " << n_got << " depth " << depth;
            pair.receiver.release();
            ++n_got;
          }
        }
        if (random() % 4 == 0) pair.fabric.rank(1).flush_all();
      }
      ASSERT_EQ(n_got, sent.size()) << "depth " << depth << " seed " << seed;
      pair.fabric.rank(0).flush_all();
      pair.fabric.rank(1).flush_all();
      EXPECT_FALSE(pair.receiver.poll());
    }
  }
}

TEST(NoteRing, IsReadyForAsManyNotesAsItHasCells) {
  NotePair pair(3, 1);
  std::mt19937_64 random(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pair.sender.has_room());
    pair.sender.send(random_note(10, random));
  }
  EXPECT_FALSE(pair.sender.has_room());
  pair.fabric.rank(0).flush_all();
  ASSERT_TRUE(pair.receiver.poll());
  EXPECT_FALSE(pair.sender.has_room()) << "the note may still be read";
  pair.receiver.release();
  pair.fabric.rank(1).flush_all();
  EXPECT_TRUE(pair.sender.has_room());
}

TEST(NoteRing, ADamagedNoteWaits) {
  std::mt19937_64 random(1);
  for (std::size_t place = 0; place < 40 + sizeof(std::uint32_t); ++place) {
    NotePair pair(4, place);
    const auto first = random_note(40, random);
    const auto second = random_note(30, random);
    pair.sender.send(first);
    pair.sender.send(second);
    pair.fabric.rank(0).flush_all();
    auto& byte = pair.fabric.rank(1).window()[pair.geometry.cell_offset(0) + place];
    byte ^= std::byte{1};
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(pair.receiver.poll()) << "byte " << place;
    byte ^= std::byte{1};
    auto note = pair.receiver.poll();
    ASSERT_TRUE(note);
    EXPECT_TRUE(std::ranges::equal(*note, first));
    pair.receiver.release();
    note = pair.receiver.poll();
    ASSERT_TRUE(note);
    EXPECT_TRUE(std::ranges::equal(*note, second));
  }
}

TEST(NoteRing, ANoteThatStaysDamagedIsAnError) {
  std::mt19937_64 random(1);
  NotePair pair(4, 1);
  pair.sender.send(random_note(40, random));
  pair.fabric.rank(0).flush_all();
  pair.fabric.rank(1).window()[pair.geometry.cell_offset(0)] ^= std::byte{1};
  for (int look = 1; look < 100; ++look) ASSERT_FALSE(pair.receiver.poll());
  EXPECT_THROW((void)pair.receiver.poll(), std::runtime_error);
}

}  // namespace
}  // namespace eventloom
