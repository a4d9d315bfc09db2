#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/event_loop.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/network.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom::test {

struct SimulationSettings {
  int ranks = 1;
  std::uint64_t seed = 0;
  std::int64_t longest_delay_ns = 50'000;  ///< of a control message
  std::int64_t longest_step_ns = 500'000;  ///< of the clock, while nobody has anything to do
  std::int64_t clock_spread_ns = 0;        ///< of the clocks of the ranks
};

class SimulatedRank;

/// Ranks as threads of which one runs at a time: whoever has the baton, and who gets it next follows from the seed
/// alone. It is handed over where a rank waits: between turns of an event loop, in what ranks do together, where a
/// channel has no message. Time is simulated, too: a turn takes some microseconds, and where nobody has anything to do
/// the clock jumps towards the next thing that is due. So a case is the same each time it is played, and nothing
/// sleeps.
class Simulation {
 public:
  explicit Simulation(SimulationSettings settings);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Once. Plays `work` as each of the ranks. Throws on what the first that threw has thrown; the others then get
  /// std::runtime_error from whatever they wait for next. std::logic_error when all wait for each other, or never end.
  void play(const std::function<void(SimulatedRank&)>& work);

  /// Simulated time, for whoever has the baton. Never 0.
  [[nodiscard]] std::int64_t now_ns() const { return now_; }
  /// Something is going to happen at this time: the clock will not jump beyond it.
  void expect(std::int64_t time_ns) { due_.insert(time_ns); }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  /// From 0 to `most`.
  [[nodiscard]] std::int64_t draw(std::int64_t most);

 private:
  friend class SimulatedRank;
  friend class SimulatedChannel;

  struct Member {
    std::condition_variable gets_baton;
    bool runs = true;        ///< has not ended
    bool waits = false;      ///< for others to come to where it is
    bool idle = false;       ///< has nothing to do, as far as it knows
    std::uint64_t met = 0;   ///< meetings that it has come to
    std::uint64_t shut = 0;  ///< barriers that it has begun
    std::span<const std::byte> says;
    std::uint64_t window_bytes = 0;
  };
  struct Letter {
    std::int64_t arrives = 0;
    std::vector<std::byte> bytes;
  };
  /// Letters of a channel, by sender and receiver.
  using Mail = std::vector<std::vector<std::deque<Letter>>>;

  void run(int rank, const std::function<void(SimulatedRank&)>& work);
  void leave(int rank, const std::exception_ptr& error);
  /// Hands the baton over, and returns when `rank` has it again.
  void pass(int rank);
  [[nodiscard]] int choose();
  void meet(int rank);
  void idle(int rank);
  void busy();
  void jump();
  [[nodiscard]] Member& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::uint64_t least_shut() const;

  SimulationSettings settings_;
  std::mt19937_64 random_;
  std::int64_t now_ = 1'000'000'000;
  std::int64_t step_ = 0;
  std::multiset<std::int64_t> due_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_;
  int holder_ = 0;
  std::uint64_t passes_ = 0;
  std::exception_ptr error_;
  std::vector<std::unique_ptr<LoopbackFabric>> fabrics_;
  std::vector<std::unique_ptr<Mail>> mails_;
};

/// What one rank of a simulation has.
class SimulatedRank final : public Network, public RankWatch, public IdlePolicy, private Collective {
 public:
  SimulatedRank(Simulation& simulation, int rank);

  [[nodiscard]] int number() const { return rank_; }
  [[nodiscard]] SteadyClock clock();
  /// From this time on the rank is asked to stop by this signal.
  void ask_to_stop(int signal, std::int64_t at_ns) { signal_ = signal, signal_at_ = at_ns; }

  // Network
  [[nodiscard]] const Collective& ranks() const override { return *this; }
  [[nodiscard]] std::unique_ptr<Transport> open_window(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<MessageChannel> open_channel() override;

  // RankWatch
  [[nodiscard]] std::string name(int rank) const override { return "rank " + std::to_string(rank); }
  [[nodiscard]] const StallSettings& stalls() const override { return stalls_; }
  void enter_loop() override {}
  void leave_loop() override {}
  void turn() override {}
  [[nodiscard]] bool is_here(int) const override { return false; }
  [[nodiscard]] bool is_told_of(int) const override { return false; }
  [[nodiscard]] bool peer_lost() const override { return false; }
  void be_quiet() override {}
  [[nodiscard]] int asked_to_stop() const override;
  [[noreturn]] void end_program() override;

  // IdlePolicy
  void wait() override { simulation_.idle(rank_); }
  void reset() override;

 private:
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return simulation_.settings_.ranks; }
  [[nodiscard]] std::unique_ptr<PendingBarrier> barrier() const override;
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                    std::span<std::byte> all) const override;
  void broadcast_bytes(std::span<std::byte> data) const override;
  void say(std::span<const std::byte> mine) const;

  Simulation& simulation_;
  int rank_;
  std::int64_t clock_offset_;
  StallSettings stalls_;
  int signal_ = 0;
  std::int64_t signal_at_ = 0;
  std::size_t windows_ = 0;
  std::size_t channels_ = 0;
};

}  // namespace eventloom::test
