#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "board_maker.hpp"
#include "io/udp/board_stream.hpp"

/// Compares a board's stream, received through a network that loses, duplicates, delays and reorders, with what that
/// network did.

namespace eventloom::test {

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::size_t kBuffers = 400;

struct Network {
  double loss = 0;
  double twice = 0;
  std::int64_t delay_ns = 0;  ///< largest delay; less than the receiver waits
  std::size_t fragment = 1 << 15;
};

struct Sent {
  Epoch first = 0;
  Epoch end = 0;
  std::uint32_t hits = 0;
  Bytes stored;
  std::size_t fragments = 0;
  std::set<std::size_t> arrived;
};

/// Sends and receives, and records what became of each datagram.
class Trial {
 public:
  Trial(const Network& network, unsigned seed) : network_(network), random_(seed) {
    Epoch epoch = 5;
    for (std::size_t i = 0; i < kBuffers; ++i) send_buffer(i, epoch);
    // The account is correct when the end arrives, which is therefore sent several times.
    clock_ += network.delay_ns;
    post(board_.mark(DatagramKind::end, epoch), false);
    end_ = epoch;
    for (const auto& [time, datagram] : wire_) deliver(time, datagram);
    stream_.pass_time(wire_.rbegin()->first + BoardStream::kPatience_ns, out_);
  }

  void check() const {
    ASSERT_TRUE(out_.ended);
    EXPECT_EQ(out_.complete, end_);
    check_buffers();
    check_damage();
    EXPECT_EQ(stream_.held_bytes(), 0U);
    EXPECT_EQ(stream_.counters()[Metric::duplicates], doubled_);
    EXPECT_EQ(stream_.anomalies(), 0U);
  }

  [[nodiscard]] std::uint64_t lost_hits() const { return hits_of(out_.damage, DropCause::lost); }
  [[nodiscard]] std::uint64_t reordered() const { return stream_.counters()[Metric::reordered]; }

 private:
  void send_buffer(std::size_t number, Epoch& epoch) {
    epoch += Epoch(random_() % 3);
    const auto n_epochs = static_cast<std::uint32_t>(1 + random_() % 4);
    const auto n_hits = static_cast<std::uint32_t>(1 + random_() % 300);
    Sent sent{epoch, epoch + Epoch(n_epochs), n_hits, board_.buffer(epoch, n_epochs, n_hits), 0, {}};
    epoch += Epoch(n_epochs);
    const auto fragments = board_.data(sent.stored, number, network_.fragment);
    sent.fragments = fragments.size();
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      // The first datagram is received, so that all others are known to be missing.
      const bool may_fail = number != 0;
      if (may_fail && chance(network_.loss)) continue;
      sent.arrived.insert(i);
      post(fragments[i], may_fail);
      if (may_fail && chance(network_.twice)) {
        post(fragments[i], true);
        ++doubled_;
      }
    }
    sent_.push_back(std::move(sent));
    clock_ += kMs / 5;
  }

  bool chance(double probability) { return std::uniform_real_distribution<>(0, 1)(random_) < probability; }

  void post(const Bytes& datagram, bool delayed) {
    const auto delay = delayed && network_.delay_ns != 0 ? static_cast<std::int64_t>(random_()) % network_.delay_ns : 0;
    wire_.emplace(clock_ + delay, datagram);
  }

  void deliver(std::int64_t time, const Bytes& bytes) {
    for (; ticks_ < time; ticks_ += 10 * kMs) stream_.pass_time(ticks_, out_);
    stream_.take(*read_datagram(bytes), time, out_);
  }

  void check_buffers() const {
    const auto got = headers_in(out_.buffers);
    std::size_t at = 0;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (sent_[i].arrived.size() != sent_[i].fragments) continue;
      ASSERT_LT(at, got.size());
      ASSERT_EQ(got[at].sequence, i);
      const auto bytes = std::span(out_.buffers).subspan(offset, sent_[i].stored.size());
      ASSERT_TRUE(std::ranges::equal(bytes, sent_[i].stored));
      offset += bytes.size();
      ++at;
    }
    EXPECT_EQ(at, got.size());
  }

  void check_damage() const {
    std::uint64_t lost = 0;
    for (const auto& sent : sent_) {
      if (sent.arrived.size() == sent.fragments) continue;
      lost += sent.hits;
      const bool covered = std::ranges::any_of(out_.damage, [&](const Damage& d) {
        return d.first_epoch <= sent.first && sent.end <= d.first_epoch + d.n_epochs;
      });
      EXPECT_TRUE(covered) << "epoch " << sent.first.value;
    }
    EXPECT_EQ(lost_hits(), lost);
    EXPECT_EQ(stream_.counters()[Metric::lost_hits], lost);
    EXPECT_TRUE(std::ranges::is_sorted(out_.damage, {}, &Damage::first_epoch));
    for (const auto& one : out_.damage) EXPECT_EQ(one.cause, DropCause::lost);
  }

  Network network_;
  std::minstd_rand random_;
  BoardMaker board_{3};
  std::vector<Sent> sent_;
  std::multimap<std::int64_t, Bytes> wire_;
  std::int64_t clock_ = 1'000 * kMs;
  std::int64_t ticks_ = 1'000 * kMs;
  std::uint64_t doubled_ = 0;
  Epoch end_ = 0;
  BoardHeader header_{TimeBase{}, {}};
  BoardStream stream_{"board", header_};
  FeedBatch out_;
};

}  // namespace

TEST(BoardModel, APerfectNetworkLosesNothing) {
  const Trial trial({}, 1);
  trial.check();
  EXPECT_EQ(trial.lost_hits(), 0U);
  EXPECT_EQ(trial.reordered(), 0U);
}

TEST(BoardModel, WhatTheNetworkDoesIsAccountedFor) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network{.loss = seed % 4 * 0.05,
                          .twice = seed % 3 * 0.1,
                          .delay_ns = static_cast<std::int64_t>(seed % 5) * 8 * kMs,
                          .fragment = seed % 2 == 0 ? std::size_t{1} << 15 : 64 + seed};
    const Trial trial(network, seed);
    trial.check();
    if (seed % 4 != 0) {
      EXPECT_GT(trial.lost_hits(), 0U);
    }
    if (seed % 5 != 0) {
      EXPECT_GT(trial.reordered(), 0U);
    }
  }
}

}  // namespace eventloom::test
