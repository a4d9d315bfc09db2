#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <simgrid/s4u.hpp>
#include <span>
#include <utility>
#include <vector>

#include "core/simulation/simulation.hpp"
#include "core/simulation/sparse_memory.hpp"

namespace eventloom {

class Port;

/// What the ports of a simulation share. Times are simulated seconds.
struct Fabric {
  std::vector<std::unique_ptr<Port>> ports;  ///< by rank
  const SparseMemory& blank;                 ///< data that exist only as lengths are spans of it
  double noise = 0;                          ///< messages are delayed by up to this much
  bool streams = false;                      ///< nothing overtakes data on its way from one rank to another
  std::vector<Transfer> log;                 ///< between two ranks in order
};

/// The access of one rank to the simulated network, and its way to wait. Data puts are flows that compete for the links
/// of the platform; notifications, credits and messages, which are small, take their time but leave the links to
/// others. Between ranks of one node nothing takes time. Only the rank's own actor uses it.
///
/// Puts to one rank that begin at the same time are one flow: a message cut into cells would otherwise get a larger
/// share of a link than its neighbours.
///
/// With Fabric::streams, as over TCP: what a rank has for another is one ordered stream. Notifications and credits
/// arrive after the data put before them, and so does the acknowledgement that ends a flush, which comes by the
/// opposite stream.
class Port {
 public:
  Port(Fabric& fabric, int rank, simgrid::s4u::Host* host, std::uint64_t seed);

  [[nodiscard]] static double now() { return simgrid::s4u::Engine::get_clock(); }
  [[nodiscard]] simgrid::s4u::Host* host() const { return host_; }

  /// Returns its number. All ranks open their windows in the same order.
  std::size_t open_window(std::uint64_t bytes);
  /// The memory of a window, with all that has arrived by now.
  [[nodiscard]] std::span<std::byte> window(std::size_t number);
  /// As Transport. `data` is copied, or is a part of Fabric::blank and only takes its time.
  void put(std::size_t window, int to, std::uint64_t offset, std::span<const std::byte> data);
  void flush(int to);

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
  /// Data puts of this rank that are not flushed.
  struct Flow {
    int to = 0;
    double begin = 0;
    std::uint64_t bytes = 0;
    std::vector<Arrival> contents;  ///< when it arrives
    simgrid::s4u::CommPtr comm;     ///< null: time has not gone on since the first put
  };
  struct Way {
    double latency = -1;  ///< negative: not yet known
    double per_byte = 0;
    double complete = 0;  ///< when this rank knows that its small puts have arrived
  };

  [[nodiscard]] Port& port(int rank) { return *fabric_.ports[static_cast<std::size_t>(rank)]; }
  Way& way_to(int rank);
  [[nodiscard]] Flow* data_before(int to);
  Flow& flow_to(int rank);
  void begin_flows();
  double complete(Flow& flow);
  double acknowledged(int to, double arrived);
  void arrive(Arrival arrival);
  void take_arrivals();
  [[nodiscard]] bool any_arrived() const;
  void sleep_until(double time);

  Fabric& fabric_;
  int rank_;
  simgrid::s4u::Host* host_;
  simgrid::s4u::SemaphorePtr bell_;
  double wakes_at_ = -1;  ///< negative while it does not wait for the bell
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SparseMemory>> windows_;
  std::vector<std::deque<std::pair<int, std::vector<std::byte>>>> mail_;  ///< by channel
  std::vector<std::map<int, double>> last_mail_;                          ///< by channel: when the last one arrives
  std::vector<Arrival> arrivals_;                                         ///< a heap, the next one first
  std::uint64_t n_arrivals_ = 0;
  std::vector<Flow> flows_;
  std::vector<Way> ways_;  ///< by rank
  std::array<double, kSpentNames.size()> spent_{};
  std::function<void()> on_nothing_;
};

}  // namespace eventloom
