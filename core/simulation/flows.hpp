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
  double latency = 0;             ///< latency of the route, seconds
  std::function<void()> arrived;  ///< called when the last byte has arrived
};

/// All data in flight over a simulated network. A flow first takes the latency of its route; then flows share the links
/// fairly, weighted by the inverse of their latencies: SimGrid's CM02 model without cross traffic. SimGrid's own solver
/// takes time quadratic in the number of flows whenever one begins or ends.
class Flows {
 public:
  /// `interval`: minimum time between two redistributions of the links. Meanwhile, new flows take the spare capacity of
  /// their links, including that of finished flows. `routes` must outlive this object.
  Flows(const FabricRoutes& routes, double interval);

  /// May be called by any actor.
  void start(Cargo cargo);
  /// Moves all flows; runs in a separate actor. Never returns.
  void run();

 private:
  /// An item due at a time; items with equal times are ordered by number.
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
    std::uint64_t number = 0;  ///< order of starting
    double left = 0;           ///< bytes left at time `since`
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
  double wakes_at_ = -1;  ///< negative while not waiting
  FairShares shares_;
  std::vector<Moving> waiting_;  ///< flows in the latency of their routes; has free places
  std::vector<std::size_t> free_places_;
  std::vector<Due> begins_;     ///< min-heap of places in waiting_
  std::vector<Moving> moving_;  ///< indexed as in shares_
  std::vector<Due> ends_;       ///< min-heap of indices in moving_
  bool changed_ = false;        ///< flows have begun or ended since links were shared
  double shared_at_ = 0;
  std::uint64_t n_started_ = 0;
};

}  // namespace eventloom
