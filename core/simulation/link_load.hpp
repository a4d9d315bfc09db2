#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Which links the traffic between hosts crosses.
class LinkLoad {
 public:
  explicit LinkLoad(const std::vector<simgrid::s4u::Host*>& hosts) : hosts_(hosts) {}

  /// The bytes per second that each host can receive when all send the same to all others: what the most loaded link
  /// allows. Infinite for one host.
  [[nodiscard]] double ideal_rate() const;
  /// The busiest links, `most` at most, when in `seconds` host i sent bytes[i * hosts + k] to host k.
  [[nodiscard]] std::vector<UsedLink> busiest(const std::vector<std::uint64_t>& bytes, double seconds,
                                              std::size_t most) const;

 private:
  /// Calls visit(link, i, k) for each link on the way from host i to host k.
  template <class Visit>
  void visit_all(const Visit& visit) const;

  const std::vector<simgrid::s4u::Host*>& hosts_;
};

}  // namespace eventloom
