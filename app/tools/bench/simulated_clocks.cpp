#include "app/tools/bench/simulated_clocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "io/generator/point_process.hpp"

namespace eventloom {

namespace {

constexpr int kMaster = 0;
constexpr int kOther = 1;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kStart = 3'600'000'000'000;  ///< reading of the master's clock at the start

/// How often the master looks for batches that are due, while no message is in flight. The batches become rarer with
/// time.
std::int64_t look_after(std::int64_t since_start) {
  return std::clamp<std::int64_t>(since_start / 100, 100'000, 10'000'000);
}

/// True time, which is the master's, and the messages in flight.
class World {
 public:
  explicit World(const SimulatedClockSettings& settings) : settings_(settings), random_(settings.seed) {}

  [[nodiscard]] std::int64_t master() const { return now_; }
  [[nodiscard]] std::int64_t local() const {
    return now_ + settings_.offset + std::llround(static_cast<double>(now_ - kStart) * settings_.drift);
  }
  [[nodiscard]] std::int64_t since_start() const { return now_ - kStart; }

  void send(int to, std::span<const std::byte> data) {
    auto& line = lines_.at(static_cast<std::size_t>(to));
    std::int64_t arrival = now_ + settings_.delay + (to == kMaster ? 0 : settings_.asymmetry);
    if (settings_.jitter > 0) {
      arrival += std::llround(exponential(random_) * settings_.jitter);
    }
    // No message overtakes another.
    if (!line.empty()) arrival = std::max(arrival, line.back().arrival);
    line.push_back({arrival, {data.begin(), data.end()}});
  }

  bool receive(int at, std::vector<std::byte>& out) {
    auto& line = lines_.at(static_cast<std::size_t>(at));
    if (line.empty() || line.front().arrival > now_) return false;
    out = std::move(line.front().data);
    line.pop_front();
    return true;
  }

  /// Moves to the next arrival, at most to `latest`.
  void advance(std::int64_t latest) {
    std::int64_t next = latest;
    for (const auto& line : lines_) {
      if (!line.empty()) next = std::min(next, line.front().arrival);
    }
    now_ = std::max(now_, next);
  }

 private:
  struct Message {
    std::int64_t arrival;
    std::vector<std::byte> data;
  };

  SimulatedClockSettings settings_;
  RandomEngine random_;
  std::int64_t now_ = kStart;
  std::array<std::deque<Message>, 2> lines_;  ///< indexed by receiver
};

class SimulatedChannel final : public MessageChannel {
 public:
  SimulatedChannel(World& world, int rank) : world_(world), rank_(rank) {}
  void send(int to, std::span<const std::byte> data) override { world_.send(to, data); }
  std::optional<int> receive(std::vector<std::byte>& out) override {
    return world_.receive(rank_, out) ? std::optional(1 - rank_) : std::nullopt;
  }
  void progress() override {}

 private:
  World& world_;
  int rank_;
};

class SimulatedClocks final : public ClockPair, private IdlePolicy {
 public:
  SimulatedClocks(const SimulatedClockSettings& settings, const ClockSync::Settings& sync)
      : world_(settings),
        master_(std::make_unique<SimulatedChannel>(world_, kMaster), kMaster, 2, sync,
                [this] { return world_.master(); }),
        other_(std::make_unique<SimulatedChannel>(world_, kOther), kOther, 2, sync, [this] { return world_.local(); }) {
  }

  [[nodiscard]] const ClockSync& sync() const override { return other_; }
  void synchronise() override {
    master_.synchronise(*this);
    // The last model has yet to arrive.
    while (other_.quality().round_trips == 0) wait();
  }
  void work(std::int64_t ns) override {
    const std::int64_t end = world_.master() + ns;
    while (world_.master() < end) {
      world_.advance(std::min(end, world_.master() + look_after(world_.since_start())));
      other_.do_work(world_.local());
      master_.do_work(world_.master());
    }
  }
  [[nodiscard]] ClockReading read() override { return {world_.local(), world_.master(), 0}; }

 private:
  /// Time passes while the master waits.
  void wait_until(std::chrono::steady_clock::time_point) override {
    world_.advance(kNever);
    other_.do_work(world_.local());
  }
  void reset() override {}

  World world_;
  ClockSync master_;
  ClockSync other_;
};

}  // namespace

std::unique_ptr<ClockPair> simulate_clocks(const SimulatedClockSettings& settings, const ClockSync::Settings& sync) {
  return std::make_unique<SimulatedClocks>(settings, sync);
}

}  // namespace eventloom
