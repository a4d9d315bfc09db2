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

/// State shared by the ports of a simulation. Times are simulated seconds.
struct Fabric {
  std::vector<std::unique_ptr<Port>> ports;  ///< indexed by rank
  Flows flows;
  const SparseMemory& blank;  ///< data that exist only as lengths are spans of it
  double noise = 0;           ///< maximum random delay of messages
  bool streams = false;       ///< data between two ranks stay in order, as over TCP
  std::vector<Transfer> log;  ///< ordered for each pair of ranks
};

/// A rank's access to the simulated network, and its means of waiting. Data puts are flows that compete for the
/// links of the platform; notifications, credits and messages, which are small, take time but no link capacity.
/// Transfers within a node take no time. Only the rank's own actor uses it.
///
/// Each window has its own connections. Flows from one rank to a window of another follow each other as on one
/// connection, and puts that begin at the same time form one flow. A notice arrives after the data put before it: a
/// receiver cannot use it earlier.
///
/// With Fabric::streams, everything from one rank to a window of another is one ordered stream, as over TCP. So the
/// acknowledgement that completes a flush comes after the data on the opposite stream.
class Port {
 public:
  Port(Fabric& fabric, int rank, std::uint32_t node, simgrid::s4u::Host* host, std::uint64_t seed);

  [[nodiscard]] static double now() { return simgrid::s4u::Engine::get_clock(); }
  [[nodiscard]] simgrid::s4u::Host* host() const { return host_; }

  /// Returns the window's number. All ranks open their windows in the same order.
  std::size_t open_window(std::uint64_t bytes);
  /// The memory of a window, including everything that has arrived by now.
  [[nodiscard]] std::span<std::byte> window(std::size_t number);
  /// See Transport.
  std::optional<std::span<const std::uint64_t>> written_since(std::size_t number, std::uint64_t& mark);
  /// See Transport. `data` is copied, unless it is part of Fabric::blank, which only takes time.
  void put(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data);
  void put_notice(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data);
  void flush(std::size_t window, int to);
  [[nodiscard]] bool is_near(int rank) { return port(rank).host_ == host_; }

  std::size_t open_channel();
  void send(std::size_t channel, int to, std::span<const std::byte> message);
  std::optional<int> receive(std::size_t channel, std::vector<std::byte>& out);

  /// Returns when something arrives, at `time`, or after 2 ms. The time counts as `on`.
  void wait_until(double time, Spent on);
  /// The rank is busy with other work; the time counts as `on`.
  void work_for(double seconds, Spent on);

  /// Seconds since the last begin_account(), indexed by Spent.
  [[nodiscard]] const std::array<double, kSpentNames.size()>& spent() const { return spent_; }
  void begin_account() { spent_ = {}; }
  /// Called when a wait ends without any arrival.
  void set_on_nothing(std::function<void()> call) { on_nothing_ = std::move(call); }

 private:
  /// Something that arrives at this rank at a given time.
  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    std::optional<int> sender;  ///< sender of a message; std::nullopt: the arrival is for a window
    std::size_t number = 0;     ///< number of the window or channel
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
    std::uint64_t forgotten = 0;         ///< number of arrivals before these
  };
  /// Data put to one rank at one time.
  struct Flow {
    double begin = 0;
    std::uint64_t bytes = 0;
    std::vector<Arrival> contents;  ///< delivered when the flow arrives
    bool blank = false;             ///< consists of data that exist only as lengths
    bool closed = false;            ///< accepts no more data
  };
  /// The path into a window of another rank.
  struct Way {
    double latency = -1;  ///< negative: not yet known
    double per_byte = 0;
    double complete = 0;    ///< when this rank knows that its small puts have arrived
    double arrived = 0;     ///< when the last flow arrived
    std::list<Flow> flows;  ///< flows in flight, in order; only the first one moves
    std::uint64_t finished = 0;
    bool carried = false;  ///< the first flow is moving
  };

  [[nodiscard]] Port& port(int rank) { return *fabric_.ports[static_cast<std::size_t>(rank)]; }
  /// A window's number, and the rank that owns it.
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
  double wakes_at_ = -1;         ///< negative while it does not wait for arrivals
  bool waits_for_flow_ = false;  ///< waits for a flow to end
  std::mt19937_64 random_;
  std::vector<Window> windows_;
  std::vector<std::deque<std::pair<int, std::vector<std::byte>>>> mail_;  ///< indexed by channel
  std::vector<std::map<int, double>> last_mail_;                          ///< indexed by channel: arrival time of the
                                                                          ///< last message to each rank
  std::vector<Arrival> arrivals_;                                         ///< min-heap by arrival time
  std::uint64_t n_arrivals_ = 0;
  std::vector<std::vector<Way>> ways_;  ///< indexed by window and rank
  std::vector<Place> to_begin_;         ///< targets of puts since time last advanced
  std::array<double, kSpentNames.size()> spent_{};
  std::function<void()> on_nothing_;
};

}  // namespace eventloom
