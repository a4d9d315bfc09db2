#include "app/tools/bench/real_clocks.hpp"

#include <limits>
#include <utility>

#include "app/command/common_clock.hpp"
#include "core/mpi/departure.hpp"
#include "core/mpi/mpi_message_channel.hpp"

namespace eventloom {

namespace {

ClockSync::Clock clock_of(const Communicator& communicator, RealClock clock) {
  if (clock == RealClock::steady || communicator.rank() == 0) return steady_ns;
  return [] { return static_cast<std::int64_t>(time_of(CLOCK_MONOTONIC_RAW).count()); };
}

class RealClocks final : public ClockPair {
 public:
  RealClocks(const Communicator& communicator, RealClock clock, const ClockSync::Settings& sync)
      : communicator_(communicator),
        one_host_(share_steady_clock(communicator)),
        settings_(sync),
        clock_(clock_of(communicator, clock)),
        sync_(channel(), communicator.rank(), communicator.size(), sync, clock_) {}
  ~RealClocks() override {
    if (!leaves_alone()) sync_.stop(idle_);
  }
  RealClocks(const RealClocks&) = delete;
  RealClocks& operator=(const RealClocks&) = delete;

  [[nodiscard]] const ClockSync& sync() const override { return sync_; }
  void synchronise() override { sync_.synchronise(idle_); }
  void work(std::int64_t ns) override {
    const std::int64_t end = steady_ns() + ns;
    while (steady_ns() < end) {
      if (sync_.do_work(clock_()) != 0) {
        idle_.reset();
      } else {
        idle_.wait();
      }
    }
  }
  [[nodiscard]] ClockReading read() override { return one_host_ ? read_both() : ask_referee(); }

 private:
  [[nodiscard]] std::unique_ptr<MessageChannel> channel() const {
    return std::make_unique<MpiMessageChannel>(communicator_);
  }

  /// The closest of several readings: the rank may lose its core between two.
  [[nodiscard]] ClockReading read_both() const {
    constexpr int kTries = 100;
    ClockReading best{0, 0, std::numeric_limits<double>::infinity()};
    for (int i = 0; i < kTries; ++i) {
      const std::int64_t before = steady_ns();
      const std::int64_t local = clock_();
      const std::int64_t took = steady_ns() - before;
      const double error = static_cast<double>(took) / 2;
      if (error < best.error_ns) best = {local, before + took / 2, error};
    }
    return best;
  }

  /// Knows nothing of the batches made so far.
  [[nodiscard]] ClockReading ask_referee() {
    ClockSync::Settings settings;
    settings.round_trips = settings_.round_trips;
    ClockSync referee(channel(), communicator_.rank(), communicator_.size(), settings, clock_);
    referee.synchronise(idle_);
    referee.stop(idle_);
    const auto& model = referee.model();
    return {model.t0, model.shift, referee.quality().precision_ns};
  }

  const Communicator& communicator_;
  bool one_host_;
  ClockSync::Settings settings_;
  ClockSync::Clock clock_;
  Idle idle_;
  ClockSync sync_;
};

}  // namespace

std::unique_ptr<ClockPair> real_clocks(const Communicator& communicator, RealClock clock,
                                       const ClockSync::Settings& sync) {
  return std::make_unique<RealClocks>(communicator, clock, sync);
}

}  // namespace eventloom
