#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/event_loop.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/network.hpp"
#include "fiber.hpp"
#include "tests/support/loopback_transport.hpp"

namespace eventloom::test {

struct SimulationSettings {
  int ranks = 1;
  std::uint64_t seed = 0;
  std::int64_t longest_delay_ns = 50'000;  ///< of a control message
  std::int64_t longest_step_ns = 500'000;  ///< of the clock, while no rank has work
  std::int64_t clock_spread_ns = 0;        ///< of the clocks of the ranks
  bool far = false;                        ///< the ranks are on different hosts
};

inline constexpr auto kNever = std::numeric_limits<std::int64_t>::max();

inline constexpr int kAllRanks = -2;

/// A rank takes no turn for a while, or all do: their host is suspended.
struct Absence {
  int rank = -1;
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;  ///< kNever: it never answers again
};

/// The network carries control messages, but no puts.
struct Standstill {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
};

/// Thrown by RankWatch::end_program(): the rank leaves its session alone.
class ProgramEnds : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SimulatedWindow;

class SimulatedRank;

/// Ranks of which one runs at a time: the one with the baton; the seed alone determines which gets it next. A rank
/// hands it over when it waits: between turns of an event loop, in collective operations, on an empty channel. Time is
/// simulated, too: a turn takes some microseconds, and when all ranks are idle, the clock jumps towards the next event
/// due. A case is therefore identical each time it is played, and no thread sleeps.
class Simulation {
 public:
  explicit Simulation(SimulationSettings settings);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Call once. Runs `work` as each of the ranks. Rethrows the exception of the first rank that threw; the others then
  /// get std::runtime_error from their next wait. Throws std::logic_error if all ranks wait for each other, or never
  /// end. A rank that never answers again keeps its resources until the others have ended.
  void play(const std::function<void(SimulatedRank&)>& work);

  /// Simulated time, for the rank with the baton. Never 0.
  [[nodiscard]] std::int64_t now_ns() const { return now_; }
  /// Registers an event at this time: the clock will not jump beyond it.
  void expect(std::int64_t time_ns) { due_.insert(time_ns); }
  /// Call once; times count from `begin_ns`.
  void set_absence(const Absence& absence, std::int64_t begin_ns);
  void set_standstill(const Standstill& standstill, std::int64_t begin_ns);
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  /// A random number from 0 to `most`.
  [[nodiscard]] std::int64_t draw(std::int64_t most);

 private:
  friend class SimulatedRank;
  friend class SimulatedChannel;
  friend class SimulatedWindow;

  struct Member {
    std::unique_ptr<Fiber> fiber;
    bool runs = true;    ///< has not ended
    bool waits = false;  ///< for the others to arrive
    bool idle = false;   ///< has nothing to do
    std::uint64_t turns = 0;
  };
  struct Letter {
    std::int64_t arrives = 0;
    std::vector<std::byte> bytes;
  };
  /// Letters of a channel, by sender and receiver.
  using Mail = std::vector<std::vector<std::deque<Letter>>>;
  /// Ranks with their own collective operations, renumbered.
  struct Group {
    struct Place {
      explicit Place(int number) : member(number) {}
      int member;
      std::uint64_t met = 0;   ///< meetings it has joined
      std::uint64_t shut = 0;  ///< barriers it has begun
      std::span<const std::byte> says;
      std::uint64_t window_bytes = 0;
    };
    std::vector<Place> places;
    std::vector<std::unique_ptr<LoopbackFabric>> fabrics;
    std::vector<std::unique_ptr<Mail>> mails;
  };

  void run(int member, const std::function<void(SimulatedRank&)>& work);
  /// The group of the ranks that answer, made at the first call.
  Group& answering();
  /// Hands the baton over, and returns when `member` has it again.
  void pass(int member);
  [[nodiscard]] Fiber& next_fiber();
  [[nodiscard]] bool in_absence() const { return now_ >= absence_.from_ns && now_ < absence_.until_ns; }
  [[nodiscard]] bool is_absent(int member) const;
  [[nodiscard]] bool is_gone(int member) const;
  [[nodiscard]] int choose();
  [[nodiscard]] bool stands_still() const { return now_ >= standstill_.from_ns && now_ < standstill_.until_ns; }
  /// `number` flushes its puts to the window of `of`.
  void wait_for_turn(int number, int of);
  void meet(Group& group, int rank);
  void idle(int member);
  void busy();
  void jump();
  [[nodiscard]] Member& member(int number) { return members_[static_cast<std::size_t>(number)]; }

  SimulationSettings settings_;
  std::mt19937_64 random_;
  std::int64_t now_ = 1'000'000'000;
  std::int64_t step_ = 0;
  std::multiset<std::int64_t> due_;
  Absence absence_;
  Standstill standstill_;
  Fiber main_;
  std::vector<Member> members_;
  std::vector<int> able_;
  std::uint64_t passes_ = 0;
  bool all_left_ = false;  ///< ranks that never answer again may unwind
  std::exception_ptr error_;
  Group all_;
  std::unique_ptr<Group> answering_;
};

/// One rank's view of a simulation.
class SimulatedRank final : public Network, public RankWatch, public IdlePolicy, private Collective {
 public:
  SimulatedRank(Simulation& simulation, Simulation::Group& group, int rank);

  [[nodiscard]] int number() const { return rank_; }
  [[nodiscard]] SteadyClock clock();
  /// This rank in the group of those that still answer, once one of them does not.
  [[nodiscard]] std::unique_ptr<SimulatedRank> among_the_others();
  /// From this time on, this signal asks the rank to stop.
  void ask_to_stop(int signal, std::int64_t at_ns) { signal_ = signal, signal_at_ = at_ns; }
  /// From this time on, the rank sees that a rank of its host has died.
  void lose_peer(int rank, std::int64_t at_ns) { lost_peer_ = rank, peer_lost_at_ = at_ns; }
  void set_stalls(const StallSettings& stalls) { stalls_ = stalls; }

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
  [[nodiscard]] bool has_reported(int) const override { return false; }
  [[nodiscard]] std::optional<int> lost_peer() const override;
  void be_quiet() override {}
  [[nodiscard]] int asked_to_stop() const override;
  [[noreturn]] void end_program() override;

  // IdlePolicy
  void wait_until(SteadyTime) override { simulation_.idle(member_); }
  void reset() override;

 private:
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(group_.places.size()); }
  [[nodiscard]] std::unique_ptr<PendingBarrier> barrier() const override;
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                    std::span<std::byte> all) const override;
  void broadcast_bytes(std::span<std::byte> data) const override;
  void say(std::span<const std::byte> mine) const;
  [[nodiscard]] Simulation::Group::Place& place() const { return group_.places[static_cast<std::size_t>(rank_)]; }

  Simulation& simulation_;
  Simulation::Group& group_;
  int rank_;
  int member_;
  std::int64_t clock_offset_;
  StallSettings stalls_;
  int signal_ = 0;
  std::int64_t signal_at_ = 0;
  int lost_peer_ = -1;
  std::int64_t peer_lost_at_ = 0;
  std::size_t windows_ = 0;
  std::shared_ptr<std::vector<SimulatedWindow*>> open_windows_ = std::make_shared<std::vector<SimulatedWindow*>>();
  std::size_t channels_ = 0;
};

}  // namespace eventloom::test
