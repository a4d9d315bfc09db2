#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "fake_feed.hpp"
#include "io/epochs/epochs_source.hpp"

namespace eventloom::test {
namespace {

constexpr Epoch kNoEnd = std::numeric_limits<Epoch>::max();
constexpr std::size_t kBufferBytes = std::size_t{1} << 30;

struct OfEpoch {
  std::vector<Hit> hits;
  std::uint64_t lost = 0;  ///< in damage that begins here
  bool missing = false;
  friend bool operator==(const OfEpoch&, const OfEpoch&) = default;
};

/// The data sent for one slice.
struct Sent {
  EpochRange epochs;
  std::vector<Hit> hits;
  std::vector<Damage> damage;
  std::size_t bytes = 0;

  [[nodiscard]] OfEpoch of_epoch(Epoch epoch) const {
    OfEpoch of;
    for (const auto& hit : hits) {
      if (hit.epoch == epoch) of.hits.push_back(hit);
    }
    for (const auto& lost : damage) {
      if (lost.first_epoch == epoch) of.lost += lost.n_hits;
      of.missing = of.missing || (lost.first_epoch <= epoch && epoch - lost.first_epoch < lost.n_epochs);
    }
    return of;
  }
};

/// A peer that sends buffers of one to four epochs, loses some, leaves gaps, and reports its position late. Every hit
/// has its own channel, so that each can be traced.
class Peer {
 public:
  explicit Peer(std::mt19937& random) : random_(random), at_(draw(0, 12)) {}

  void send(FakeFeed& feed) {
    for (auto n = draw(0, 2); n > 0; --n) {
      at_ += Epoch(draw(0, 3));
      draw(0, 4) == 0 ? lose(feed) : send_buffer(feed);
    }
    if (draw(0, 2) != 0) feed.next.complete = at_;
  }
  void end(FakeFeed& feed) {
    feed.next.complete = at_;
    feed.next.ended = true;
  }

  /// Hits sent since the last call, buffer by buffer.
  std::vector<std::vector<Hit>> take_sent() { return std::exchange(sent_, {}); }
  std::uint64_t take_lost() { return std::exchange(lost_, 0); }

 private:
  std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }
  void send_buffer(FakeFeed& feed) {
    std::vector<Hit> hits;
    for (const Epoch end = at_ + Epoch(draw(1, 4)); at_ < end; ++at_) {
      for (auto n = draw(at_ + 1 == end ? 1 : 0, 3); n > 0; --n) hits.push_back({at_, next_channel_++});
    }
    const auto bytes = make_buffer(hits);
    feed.next.buffers.insert(feed.next.buffers.end(), bytes.begin(), bytes.end());
    sent_.push_back(std::move(hits));
  }
  void lose(FakeFeed& feed) {
    const Epoch length(draw(0, 5));
    const auto hits = static_cast<std::uint32_t>(draw(0, 4));
    feed.next.damage.push_back({.first_epoch = at_, .n_epochs = length, .n_hits = hits, .cause = DropCause::lost});
    lost_ += hits;
    at_ += std::max<Epoch>(length, 1);
  }

  std::mt19937& random_;
  Epoch at_;
  std::uint32_t next_channel_ = 0;
  std::vector<std::vector<Hit>> sent_;
  std::uint64_t lost_ = 0;
};

/// Plays a run of one live source and several builders as the source role does, in random order: it accepts data, sends
/// slices with their margins when they are complete or given up, and forgets data that no builder needs; then the
/// source ends by itself, or the run ends first.
class Play {
 public:
  Play(unsigned seed, FeedStream::Settings settings) : random_(seed), peer_(random_), live_(std::move(settings)) {
    geometry_.base = live_header().base;
    geometry_.epochs_per_slice = draw(1, 6);
    geometry_.overlap = Tick(draw(0, geometry_.epochs_per_slice + 2) * kEpochTicks);
    first_ = draw(0, 4);
    next_.resize(draw(1, 3));
    std::iota(next_.begin(), next_.end(), first_);
  }

  void run() {
    for (auto n = draw(0, 5); n > 0; --n) come();
    live_.stream.fix_header();
    begin();
    for (int step = 0; step < 60; ++step) {
      come();
      for (std::size_t b = 0; b < next_.size(); ++b) {
        if (draw(0, 2) == 0 && there(b, 4) && draw(0, 3) != 0) send(b);
      }
      live_.stream.release_before(sent_epochs(lowest()).begin);
    }
    draw(0, 1) == 0 ? peer_.end(live_.feed) : end_run();
    send_rest();
    close();
  }

  [[nodiscard]] FeedStream& stream() { return live_.stream; }
  [[nodiscard]] std::uint64_t count(const std::string& name) { return live_.count(name); }
  [[nodiscard]] const std::map<std::uint64_t, Sent>& slices() const { return slices_; }
  /// Hits dropped, of every cause.
  [[nodiscard]] std::uint64_t hits_dropped() {
    std::uint64_t hits = 0;
    for (const auto cause : kDropCauseNames) hits += count("hits_dropped_" + std::string(cause));
    return hits;
  }
  /// All hits that the stream has taken from its feed.
  [[nodiscard]] const std::vector<Hit>& taken() const { return taken_; }
  /// Those, and the hits taken from the feed after the end of the run.
  [[nodiscard]] const std::vector<Hit>& received() const { return received_; }
  [[nodiscard]] std::uint64_t hits_given() const { return taken_.size() + lost_; }
  [[nodiscard]] std::uint64_t hits_late() const { return late_; }
  [[nodiscard]] std::uint64_t hits_before() const { return before_; }
  [[nodiscard]] bool all_sent() const { return lowest() >= stop_; }

  /// Hits that came in time and lie before the end of the run.
  [[nodiscard]] std::set<Hit> expected() const {
    std::set<Hit> hits;
    std::ranges::copy_if(in_time_, std::inserter(hits, hits.end()), [&](const Hit& hit) { return hit.epoch < end_; });
    return hits;
  }
  /// Hits in the slices that own them.
  [[nodiscard]] std::set<Hit> owned_hits() const {
    std::set<Hit> owned;
    for (const auto& [slice, sent] : slices_) {
      for (const auto& hit : sent.hits) {
        if (hit.epoch >= end_ || !geometry_.owned_epochs({slice}).contains(hit.epoch)) continue;
        EXPECT_TRUE(owned.insert(hit).second) << "twice: channel " << hit.channel;
      }
    }
    return owned;
  }
  /// Hits of damage, in the slices that account for it.
  [[nodiscard]] std::uint64_t owned_losses() const {
    std::uint64_t hits = 0;
    for (const auto& [slice, sent] : slices_) {
      for (const auto& damage : sent.damage) {
        if (geometry_.owned_epochs({slice}).contains(damage.first_epoch)) hits += damage.n_hits;
      }
    }
    return hits;
  }

 private:
  std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }

  void come() {
    if (!live_.feed.next.ended) peer_.send(live_.feed);
    const auto takes = live_.feed.takes;
    const auto before = live_.stream.progress();
    live_.stream.receive();
    expect_order(before, live_.stream.progress());
    if (live_.feed.takes == takes) return;
    lost_ += peer_.take_lost();
    for (auto& hits : peer_.take_sent()) {
      taken_.insert(taken_.end(), hits.begin(), hits.end());
      begun_ ? judge(std::move(hits)) : early_.push_back(std::move(hits));
    }
  }

  static void expect_order(const LiveProgress& before, const LiveProgress& now) {
    EXPECT_GE(now.complete, now.received);
    EXPECT_GE(now.complete, before.complete);
    EXPECT_GE(now.received, before.received);
    EXPECT_GE(now.drained, before.drained);
  }

  void close() {
    const auto takes = live_.feed.takes;
    live_.stream.close();
    received_ = taken_;
    if (live_.feed.takes == takes) return;
    for (const auto& hits : peer_.take_sent()) received_.insert(received_.end(), hits.begin(), hits.end());
  }

  /// A buffer is late if it begins before what has been decided; its part before the run's beginning does not count.
  void judge(std::vector<Hit> hits) {
    const auto before = std::erase_if(hits, [&](const Hit& hit) { return hit.epoch < begin_; });
    before_ += before;
    if (hits.empty()) return;
    const Epoch first = before != 0 ? begin_ : hits.front().epoch;
    if (first < closed_) {
      late_ += hits.size();
    } else {
      in_time_.insert(hits.begin(), hits.end());
    }
  }

  void begin() {
    begun_ = true;
    closed_ = begin_ = geometry_.owned_epochs({first_}).begin;
    live_.stream.begin({.epoch = begin_});
    for (const auto& hits : early_) judge(hits);
  }

  /// Whether the next slice of a builder is complete; one in `patience` is given up.
  bool there(std::size_t builder, std::uint64_t patience) {
    const auto epochs = sent_epochs(next_[builder]);
    if (live_.request(epochs)) return true;
    if (draw(1, patience) != 1) return false;
    live_.stream.advance(epochs.end, draw(0, 1) == 0 ? Advance::missing : Advance::ended);
    closed_ = std::max(closed_, epochs.end);
    return true;
  }

  void send(std::size_t builder) {
    const auto slice = next_[builder];
    next_[builder] += next_.size();
    const auto epochs = sent_epochs(slice);
    const auto data = live_.collect(epochs);
    closed_ = std::max(closed_, epochs.end);
    begun_end_ = std::max(begun_end_, slice + 1);
    std::size_t bytes = 0;
    for (const auto piece : data.pieces) bytes += piece.size();
    slices_[slice] = {epochs, hits_in(data), data.damage, bytes};
  }

  void end_run() {
    const auto margin = geometry_.margin_epochs().value / geometry_.epochs_per_slice + 1;
    stop_ = std::max(begun_end_, first_) + (begun_end_ > first_ ? margin : 0);
    end_ = geometry_.owned_epochs({stop_}).begin;
  }

  void send_rest() {
    for (int turn = 0; turn < 1000 && !all_sent(); ++turn) {
      come();
      learn_end();
      for (std::size_t b = 0; b < next_.size(); ++b) {
        if (next_[b] < stop_ && there(b, 9)) send(b);
      }
      live_.stream.release_before(sent_epochs(std::min(lowest(), stop_)).begin);
    }
    live_.stream.finish(end_);
  }

  void learn_end() {
    const auto end = live_.stream.end_epoch();
    if (!end) return;
    stop_ = std::min(stop_, *end == 0 ? 0 : geometry_.slice_of(*end - 1 + geometry_.margin_epochs()).value + 1);
  }

  [[nodiscard]] std::uint64_t lowest() const { return *std::ranges::min_element(next_); }
  [[nodiscard]] EpochRange sent_epochs(std::uint64_t slice) const {
    auto epochs = geometry_.sent_epochs({slice});
    epochs.end = std::min(epochs.end, end_);
    return epochs;
  }

  std::mt19937 random_;
  Peer peer_;
  Live live_;
  SliceGeometry geometry_;
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> next_;  ///< by builder
  std::uint64_t begun_end_ = 0;
  std::uint64_t stop_ = std::numeric_limits<std::uint64_t>::max();
  Epoch end_ = kNoEnd;
  Epoch begin_ = 0;
  Epoch closed_ = 0;
  bool begun_ = false;
  std::map<std::uint64_t, Sent> slices_;
  std::vector<std::vector<Hit>> early_;
  std::vector<Hit> taken_;
  std::vector<Hit> received_;
  std::set<Hit> in_time_;
  std::uint64_t lost_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t before_ = 0;
};

/// Each hit is in one place: in the slice that owns it, in damage that one slice accounts for, or outside the run.
void expect_account(Play& play) {
  ASSERT_TRUE(play.all_sent());
  EXPECT_EQ(play.stream().hits_read(), play.owned_hits().size() + play.owned_losses());
  const auto left_out = play.count("hits_before_the_run") + play.count("hits_after_the_end");
  EXPECT_EQ(play.stream().hits_read() + left_out, play.hits_given());
  const auto dropped = play.hits_dropped();
  EXPECT_GE(dropped, play.owned_losses());
  EXPECT_LE(dropped, play.owned_losses() + play.count("hits_after_the_end"));
}

/// Data sent for two slices are the same in both.
void expect_decided_once(const Play& play) {
  std::map<Epoch, OfEpoch> known;
  for (const auto& [slice, sent] : play.slices()) {
    for (Epoch epoch = sent.epochs.begin; epoch < sent.epochs.end; ++epoch) {
      const auto of = sent.of_epoch(epoch);
      const auto [place, is_new] = known.emplace(epoch, of);
      EXPECT_TRUE(is_new || place->second == of) << "epoch " << epoch.value << ", slice " << slice;
    }
  }
}

class FeedStreamAccount : public testing::Test {
 protected:
  static constexpr unsigned kSeeds = 300;

  FeedStreamAccount() { spdlog::set_level(spdlog::level::err); }
  ~FeedStreamAccount() override {
    spdlog::set_level(spdlog::level::info);
    std::filesystem::remove(path_);
  }

  const std::string path_ =
      (std::filesystem::path(testing::TempDir()) / ("account_" + std::to_string(getpid()) + ".epochs")).string();
};

TEST_F(FeedStreamAccount, OfARunThatKeepsUp) {
  std::uint64_t late = 0;
  std::uint64_t beyond = 0;
  for (unsigned seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play play(seed, {.buffer_bytes = kBufferBytes, .drop_when_full = false, .record = {}});
    play.run();
    expect_account(play);
    expect_decided_once(play);
    EXPECT_EQ(play.owned_hits(), play.expected());
    EXPECT_EQ(play.count("hits_dropped_late"), play.hits_late());
    EXPECT_GE(play.count("hits_before_the_run"), play.hits_before()) << "and lost ones";
    EXPECT_EQ(play.count("hits_dropped_congested"), 0U);
    late += play.hits_late();
    beyond += play.count("hits_after_the_end");
  }
  EXPECT_GT(late, kSeeds / 4) << "the model exercises what it is meant to test";
  EXPECT_GT(beyond, kSeeds / 4);
}

TEST_F(FeedStreamAccount, OfARunThatIsTooSlowAndDrops) {
  std::uint64_t congested = 0;
  for (unsigned seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t bytes = 200 + seed * 7;
    Play play(seed, {.buffer_bytes = bytes, .drop_when_full = true, .record = {}});
    play.run();
    expect_account(play);
    expect_decided_once(play);
    for (const auto& [slice, sent] : play.slices()) EXPECT_LE(sent.bytes, bytes) << "more than may be held";
    congested += play.count("hits_dropped_congested");
  }
  EXPECT_GT(congested, kSeeds);
}

/// It drops data only where a single slice is too large.
TEST_F(FeedStreamAccount, OfARunThatIsTooSlowAndWaits) {
  for (unsigned seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play play(seed, {.buffer_bytes = 200 + seed * 7, .drop_when_full = false, .record = {}});
    play.run();
    expect_account(play);
    expect_decided_once(play);
  }
}

TEST_F(FeedStreamAccount, ARecordingHasAllThatCame) {
  for (unsigned seed = 0; seed < kSeeds / 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::filesystem::remove(path_);
    Play play(seed, {.buffer_bytes = seed % 2 == 0 ? kBufferBytes : 500, .drop_when_full = false, .record = path_});
    play.run();
    EpochsSource recorded(path_);
    SliceData data;
    recorded.collect({0, kNoEnd}, data);
    EXPECT_TRUE(data.damage.empty());
    EXPECT_EQ(hits_in(data), play.received());
    EXPECT_EQ(recorded.header(), live_header());
  }
}

}  // namespace
}  // namespace eventloom::test
