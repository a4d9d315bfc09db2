#include "app/tools/bench/payload_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "app/tools/bench/sink_role.hpp"
#include "app/tools/bench/synthetic_source.hpp"
#include "core/exchange/outbox.hpp"
#include "schedulers/make_scheduler.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kFootprint = 1 << 20;

TEST(PayloadPool, ConsecutiveMessagesDiffer) {
  for (const std::uint64_t bytes : {8ULL, 64ULL, 1000ULL, 4096ULL, 1ULL << 20}) {
    for (const std::uint64_t footprint : {std::uint64_t{0}, bytes, kFootprint}) {
      const PayloadPool pool(3, bytes, 0, footprint);
      for (std::uint64_t slice = 0; slice < 300; ++slice) {
        const auto one = pool.message(slice);
        const auto next = pool.message(slice + 1);
        ASSERT_EQ(one.size(), bytes);
        const auto n = std::min<std::size_t>(bytes, 4096);
        std::size_t same = 0;
        for (std::size_t i = 0; i < n; ++i) same += one[i] == next[i] ? 1 : 0;
        // One byte in 256 is equal by chance.
        ASSERT_LT(same, n / 16 + 4) << bytes << " bytes, footprint " << footprint << ", slice " << slice;
      }
    }
  }
}

TEST(PayloadPool, EachSenderHasItsOwn) {
  const PayloadPool a(0, 64, 0, kFootprint);
  const PayloadPool b(1, 64, 0, kFootprint);
  EXPECT_FALSE(std::ranges::equal(a.message(0), b.message(0)));
}

TEST(PayloadPool, BothSidesMakeTheSame) {
  const PayloadPool here(7, 500, 0.5, 10'000);
  const PayloadPool there(7, 500, 0.5, 10'000);
  for (std::uint64_t slice = 0; slice < 1000; ++slice) {
    ASSERT_TRUE(std::ranges::equal(here.message(slice), there.message(slice))) << "slice " << slice;
  }
}

TEST(PayloadPool, LengthsAreEvenlySpread) {
  constexpr std::uint64_t kBytes = 10'000;
  constexpr std::uint64_t kSlices = 20'000;
  for (const double spread : {0.1, 0.5, 0.9}) {
    for (const std::uint32_t sender : {0U, 1U, 65'535U}) {
      const PayloadPool pool(sender, kBytes, spread, kFootprint);
      std::vector<int> tenths(10);
      double sum = 0;
      for (std::uint64_t slice = 0; slice < kSlices; ++slice) {
        const auto length = static_cast<double>(pool.message(slice).size());
        const double place = (length / kBytes - (1 - spread)) / (2 * spread);  // 0 to 1
        ASSERT_GE(place, -0.001);
        ASSERT_LT(place, 1);
        ASSERT_LE(length, static_cast<double>(pool.largest()));
        ++tenths[static_cast<std::size_t>(std::max(place, 0.0) * 10)];
        sum += length;
      }
      const double error = kBytes * spread / std::sqrt(3.0 * kSlices);
      EXPECT_NEAR(sum / kSlices, kBytes, 5 * error) << "spread " << spread << " sender " << sender;
      for (const int n : tenths) EXPECT_NEAR(n, kSlices / 10.0, 5 * std::sqrt(kSlices / 10.0));
    }
  }
}

TEST(PayloadPool, CyclesThroughItsFootprint) {
  const PayloadPool pool(0, 1000, 0, kFootprint);
  const std::byte* lowest = pool.message(0).data();
  std::ptrdiff_t furthest = 0;
  for (std::uint64_t slice = 0; slice < 5000; ++slice) {
    const auto message = pool.message(slice);
    furthest = std::max(furthest, message.data() + message.size() - lowest);
  }
  EXPECT_GE(furthest, static_cast<std::ptrdiff_t>(kFootprint - 2048));
  EXPECT_LE(furthest, static_cast<std::ptrdiff_t>(kFootprint + 2048));
}

TEST(SyntheticSource, HasOneMessageForEverySlice) {
  const auto pool = std::make_shared<const PayloadPool>(0, 100, 0.5, kFootprint);
  SyntheticSource source(pool, {.seconds = 0, .slices = 5});
  EXPECT_EQ(source.first_epoch(), Epoch{0});
  for (std::uint64_t slice = 0; slice < 7; ++slice) {
    SliceData data;
    source.collect({Epoch(slice), Epoch(slice + 1)}, data);
    if (slice >= 5) {
      EXPECT_TRUE(data.pieces.empty());
      continue;
    }
    ASSERT_EQ(data.pieces.size(), 1U);
    EXPECT_EQ(data.pieces[0].data(), pool->message(slice).data());
    EXPECT_EQ(data.pieces[0].size(), pool->message(slice).size());
  }
  EXPECT_EQ(source.end_epoch(), Epoch{5});
}

/// One sender and one sink, connected by a ring.
class Bench {
 public:
  Bench(Receive receive, std::uint64_t message_bytes, double spread)
      : fabric_({kCreditBytes, kGeometry.ring_bytes()}, 1),
        pool_(std::make_shared<const PayloadPool>(0, message_bytes, spread, kFootprint)),
        scheduler_(make_scheduler({.name = "round-robin", .first_slice = {0}})),
        outbox_(RingProducer({fabric_.rank(0), fabric_.rank(0)}, 1, 0, 0, kGeometry), Outbox::BodyCrc::staged) {
    SinkSettings settings;
    settings.senders = {1};
    settings.receive = receive;
    settings.pools = {std::make_shared<const PayloadPool>(0, message_bytes, spread, kFootprint)};
    std::vector<RingConsumer> rings;
    rings.emplace_back(Windows{fabric_.rank(1), fabric_.rank(1)}, 0, 0, 0, kGeometry);
    sink = std::make_unique<SinkRole>(std::move(settings), *scheduler_, std::move(rings));
    fabric_.rank(1).flush_all();
  }

  /// Sends all slices; in slice `damaged`, the bit at `place` is flipped.
  void run(std::uint64_t slices, std::uint64_t damaged = kNoSlice.value, std::size_t place = 0) {
    for (std::uint64_t slice = 0; slice < slices; ++slice) {
      const auto sent = pool_->message(slice);
      std::vector<std::byte> body(sent.begin(), sent.end());
      bytes += body.size();
      if (slice == damaged) body.at(place) ^= std::byte{1};
      outbox_.start({{slice}, 0, true, 0, {body}});
      pump();
    }
    outbox_.start_end(0, {slices});
    pump();
  }

  /// Sends all slices and the end back to back; small slices share a cell.
  void run_at_once(std::uint64_t slices) {
    for (std::uint64_t slice = 0; slice < slices; ++slice) {
      outbox_.start({{slice}, 0, true, 0, {pool_->message(slice)}});
      outbox_.pump();
    }
    outbox_.start_end(0, {slices});
    pump();
  }

  std::unique_ptr<SinkRole> sink;
  std::uint64_t bytes = 0;  ///< sent

 private:
  static constexpr RingGeometry kGeometry{4, 4096};

  void pump() {
    for (int i = 0; i < 10'000 && !outbox_.free(); ++i) {
      outbox_.pump();
      outbox_.flush();
      sink->do_work({});
      fabric_.rank(1).flush_all();
    }
    ASSERT_TRUE(outbox_.free());
    outbox_.flush();
    sink->do_work({});
    fabric_.rank(1).flush_all();
  }

  LoopbackFabric fabric_;
  std::shared_ptr<const PayloadPool> pool_;
  std::unique_ptr<Scheduler> scheduler_;
  Outbox outbox_;
};

TEST(Sink, CountsWhatComes) {
  for (const auto receive : {Receive::look, Receive::copy, Receive::verify}) {
    for (const std::uint64_t bytes : {10ULL, 300ULL, 50'000ULL}) {
      Bench bench(receive, bytes, 0.5);
      bench.run(40);
      EXPECT_TRUE(bench.sink->done());
      const auto& count = bench.sink->counts().at(0);
      EXPECT_EQ(count.messages, 40U);
      EXPECT_EQ(count.bytes, bench.bytes);
      EXPECT_EQ(count.wrong_chunks, 0U);
      EXPECT_EQ(bench.sink->slices(), 40U);
    }
  }
}

// The last message and its sender's end may arrive in one cell.
TEST(Sink, CountsTheSliceBeforeTheEnd) {
  Bench bench(Receive::look, 10, 0);
  bench.run_at_once(3);
  EXPECT_TRUE(bench.sink->done());
  EXPECT_EQ(bench.sink->counts().at(0).messages, 3U);
  EXPECT_EQ(bench.sink->slices(), 3U);
}

TEST(Sink, VerifyCountsAFlippedByte) {
  for (const std::uint64_t bytes : {10ULL, 3000ULL, 50'000ULL}) {
    for (const std::size_t place : {std::size_t{0}, static_cast<std::size_t>(bytes / 2), std::size_t{bytes - 1}}) {
      Bench bench(Receive::verify, bytes, 0);
      bench.run(20, 13, place);
      EXPECT_EQ(bench.sink->counts().at(0).wrong_chunks, 1U) << bytes << " bytes, byte " << place;
    }
  }
}

TEST(Sink, OnlyVerifyLooksAtTheBytes) {
  for (const auto receive : {Receive::look, Receive::copy}) {
    Bench bench(receive, 1000, 0);
    bench.run(20, 13);
    EXPECT_EQ(bench.sink->counts().at(0).wrong_chunks, 0U);
  }
}

}  // namespace
}  // namespace eventloom
