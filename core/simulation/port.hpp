#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <simgrid/s4u.hpp>
#include <span>
#include <utility>
#include <vector>

#include "core/simulation/flows.hpp"
#include "core/simulation/simulation.hpp"
#include "core/simulation/sparse_memory.hpp"

namespace eventloom {

class Port;

/// What the ports of a simulation share. Times are simulated seconds.
struct Fabric {
  std::vector<std::unique_ptr<Port>> ports;  ///< by rank
  Flows flows;
  const SparseMemory& blank;  ///< data that exist only as lengths are spans of it
  double noise = 0;           ///< messages are delayed by up to this much
  bool streams = false;       ///< nothing overtakes data on its way from one rank to another
  std::vector<Transfer> log;  ///< between two ranks in order
};

/// The access of one rank to the simulated network, and its way to wait. Data puts are flows that compete for the links
/// of the platform; notifications, credits and messages, which are small, take their time but leave the links to
/// others. Between ranks of one node nothing takes time. Only the rank's own actor uses it.
///
/// Each window has connections of its own. From one rank to a window of another, flows follow each other as on one
/// connection, and puts that begin at the same time are one flow. A notice arrives after the data put before it: a
/// receiver cannot use it earlier.
///
/// With Fabric::streams, as over TCP: what a rank has for a window of another is one ordered stream. So the
/// acknowledgement that ends a flush comes after the data on the opposite stream.
class Port {
 public:
  Port(Fabric& fabric, int rank, std::uint32_t node, simgrid::s4u::Host* host, std::uint64_t seed);

  [[nodiscard]] static double now() { return simgrid::s4u::Engine::get_clock(); }
  [[nodiscard]] simgrid::s4u::Host* host() const { return host_; }

  /// Returns its number. All ranks open their windows in the same order.
  std::size_t open_window(std::uint64_t bytes);
  /// The memory of a window, with all that has arrived by now.
  [[nodiscard]] std::span<std::byte> window(std::size_t number);
  /// As Transport.
  std::optional<std::span<const std::uint64_t>> written_since(std::size_t number, std::uint64_t& mark);
  /// As Transport. `data` is copied, or is a part of Fabric::blank and only takes its time.
  void put(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data);
  void put_notice(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data);
  void flush(std::size_t window, int to);
  [[nodiscard]] bool is_near(int rank) { return port(rank).host_ == host_; }

  std::size_t open_channel();
  void send(std::size_t channel, int to, std::span<const std::byte> message);
  std::optional<int> receive(std::size_t channel, std::vector<std::byte>& out);

  /// Returns when something arrives, or at `time`, or after a while.
  void wait_until(double time, Spent on);
  /// The rank does something else meanwhile.
  void work_for(double seconds, Spent on);

  /// Seconds by Spent, since the last begin_account().
  [[nodiscard]] const std::array<double, kSpentNames.size()>& spent() const { return spent_; }
  void begin_account() { spent_ = {}; }
  /// Called when a wait ends without anything having arrived.
  void set_on_nothing(std::function<void()> call) { on_nothing_ = std::move(call); }

 private:
  /// What arrives at this rank at some time.
  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    std::optional<int> sender;  ///< of a message; none: it is for a window
    std::size_t number = 0;     ///< of the window or channel
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return std::pair(a.time, a.order) > std::pair(b.time, b.order);
    }
  };
  struct Window {
    std::unique_ptr<SparseMemory> memory;
    std::vector<std::uint64_t> written;  ///< offsets of the last arrivals
    std::uint64_t forgotten = 0;         ///< arrivals before them
  };
  /// Data put to one rank at one time.
  struct Flow {
    double begin = 0;
    std::uint64_t bytes = 0;
    std::vector<Arrival> contents;  ///< when it arrives
    bool blank = false;             ///< data that exist only as lengths
    bool closed = false;            ///< nothing more is put to it
  };
  /// Into a window of one other rank.
  struct Way {
    double latency = -1;  ///< negative: not yet known
    double per_byte = 0;
    double complete = 0;    ///< when this rank knows that its small puts have arrived
    double arrived = 0;     ///< when the last flow had
    std::list<Flow> flows;  ///< under way, in order; only the first of them moves
    std::uint64_t finished = 0;
    bool carried = false;  ///< the first of them moves
  };

  [[nodiscard]] Port& port(int rank) { return *fabric_.ports[static_cast<std::size_t>(rank)]; }
  /// The number of a window, and the rank that it belongs to.
  struct Place {
    std::size_t window = 0;
    int rank = 0;
  };
  Way& way_to(Place place);
  void put_small(Place to, std::uint64_t offset, std::span<const std::byte> data, bool after_data);
  void put_data(Place to, Arrival arrival, std::uint64_t bytes);
  void begin_flows();
  void move(Place to);
  void arrived(Place to);
  void finish(Place to, Flow flow);
  void wait_for(const Way& way);
  void ring();
  void arrive(Arrival arrival);
  void take_arrivals();
  static void write(Window& window, const Arrival& arrival);
  [[nodiscard]] bool any_arrived() const;
  void sleep_until(double time);

  Fabric& fabric_;
  int rank_;
  std::uint32_t node_;
  simgrid::s4u::Host* host_;
  simgrid::s4u::SemaphorePtr bell_;
  double wakes_at_ = -1;         ///< negative while it does not wait for something to arrive
  bool waits_for_flow_ = false;  ///< to end
  std::mt19937_64 random_;
  std::vector<Window> windows_;
  std::vector<std::deque<std::pair<int, std::vector<std::byte>>>> mail_;  ///< by channel
  std::vector<std::map<int, double>> last_mail_;                          ///< by channel: when the last one arrives
  std::vector<Arrival> arrivals_;                                         ///< a heap, the next one first
  std::uint64_t n_arrivals_ = 0;
  std::vector<std::vector<Way>> ways_;  ///< by window and rank
  std::vector<Place> to_begin_;         ///< to which something was put since time went on
  std::array<double, kSpentNames.size()> spent_{};
  std::function<void()> on_nothing_;
};

}  // namespace eventloom
