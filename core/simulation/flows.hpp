#pragma once

#include <cstdint>
#include <functional>
#include <simgrid/s4u.hpp>
#include <vector>

#include "core/fabric/fair_shares.hpp"

namespace eventloom {

/// Data to move from one node to another.
struct Cargo {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
  double latency = 0;             ///< seconds, of the route
  std::function<void()> arrived;  ///< called when the last byte has arrived
};

/// All data under way over a simulated network. A flow takes the latency of its route first; then flows share the links
/// fairly, with weights in inverse proportion to their latencies: the model that SimGrid calls CM02, without cross
/// traffic. SimGrid's own solver takes time in proportion to the square of the flows, and that whenever one begins or
/// ends.
class Flows {
 public:
  /// `interval`: links are shared out anew at most so often. Meanwhile a new flow gets what is left of its links, and
  /// what a flow leaves at its end. `routes` must outlive this object.
  Flows(const FabricRoutes& routes, double interval);

  /// Called by any actor.
  void start(Cargo cargo);
  /// Moves them all; for an actor of its own.
  void run();

 private:
  /// Something that is due at a time, in order of their numbers among equals.
  struct Due {
    double time = 0;
    std::uint64_t number = 0;
    std::size_t what = 0;
    [[nodiscard]] bool operator>(const Due& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  struct Moving {
    Cargo cargo;
    std::uint64_t number = 0;  ///< in the order of their starts
    double left = 0;           ///< bytes at the time `since`
    double rate = 0;
    double since = 0;
    bool arrived = false;
  };

  void end_flows();
  void begin_flows();
  void share_links();
  void set_rate(std::size_t flow, double rate);
  void remove_arrived();
  void wait();

  const FabricRoutes& routes_;
  double interval_;
  simgrid::s4u::SemaphorePtr bell_;
  double wakes_at_ = -1;  ///< negative while it does not wait
  FairShares shares_;
  std::vector<Moving> waiting_;  ///< for the latency of their routes; with free places
  std::vector<std::size_t> free_places_;
  std::vector<Due> begins_;     ///< a heap, the first one first: places in waiting_
  std::vector<Moving> moving_;  ///< by number in shares_
  std::vector<Due> ends_;       ///< a heap, the first one first: numbers in moving_
  bool changed_ = false;        ///< flows have begun or ended since
  double shared_at_ = 0;
  std::uint64_t n_started_ = 0;
};

}  // namespace eventloom
