#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/engine/event_loop.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/runtime/idle.hpp"
#include "core/runtime/memory.hpp"
#include "core/simulation/port.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// Meeting place of all ranks of a simulation. Meeting takes no time: it serves the beginning and the end of a run.
class MeetingPlace {
 public:
  explicit MeetingPlace(int ranks)
      : says(static_cast<std::size_t>(ranks)),
        barriers(static_cast<std::size_t>(ranks)),
        door_(simgrid::s4u::Barrier::create(static_cast<unsigned>(ranks))) {}
  void meet() { door_->wait(); }

  std::vector<std::span<const std::byte>> says;  ///< indexed by rank
  std::vector<std::uint64_t> barriers;           ///< indexed by rank: number of barriers begun

 private:
  simgrid::s4u::BarrierPtr door_;
};

/// A rank's clock, which differs from simulated time.
struct RankClock {
  double offset = 0;  ///< seconds
  double drift = 0;   ///< seconds per second

  [[nodiscard]] SteadyTime at(double time) const;
  /// The simulated time at which the clock shows `reading`.
  [[nodiscard]] double when(SteadyTime reading) const;
};

/// One rank of a simulated run as the engine sees it. Used only by its own actor.
class SimulatedRank final : public Network, public RankWatch, public IdlePolicy, private Collective {
 public:
  SimulatedRank(MeetingPlace& place, Port& port, int rank, RankClock clock)
      : place_(place), port_(port), rank_(rank), clock_(clock) {}

  [[nodiscard]] SteadyClock clock() const {
    return [this] { return clock_.at(Port::now()); };
  }
  /// `reason` returns what the rank waits for when it has no work.
  void set_reason(std::function<Spent()> reason) { reason_ = std::move(reason); }

  // Network
  [[nodiscard]] const Collective& ranks() const override { return *this; }
  /// A simulated window takes no more memory than its notifications.
  [[nodiscard]] std::vector<MemoryBound> memory_bounds() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Transport> open_window(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<MessageChannel> open_channel() override;

  // RankWatch
  [[nodiscard]] std::string name(int rank) const override { return "rank " + std::to_string(rank); }
  [[nodiscard]] const StallSettings& stalls() const override { return stalls_; }
  void enter_loop() override {}
  void leave_loop() override {}
  void turn() override {}
  [[nodiscard]] bool is_here(int) const override { return false; }
  [[nodiscard]] bool has_reported(int) const override { return false; }
  [[nodiscard]] std::optional<int> lost_peer() const override { return std::nullopt; }
  void be_quiet() override {}
  [[nodiscard]] int asked_to_stop() const override { return 0; }
  [[noreturn]] void end_program() override;

  // IdlePolicy
  void wait_until(SteadyTime due) override;
  void reset() override {}

 private:
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(place_.says.size()); }
  [[nodiscard]] std::unique_ptr<PendingBarrier> barrier() const override;
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                    std::span<std::byte> all) const override;
  void broadcast_bytes(std::span<std::byte> data) const override;
  void say(std::span<const std::byte> mine) const;

  MeetingPlace& place_;
  Port& port_;
  int rank_;
  RankClock clock_;
  StallSettings stalls_;
  std::function<Spent()> reason_;
};

}  // namespace eventloom
