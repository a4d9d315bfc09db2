#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "core/engine/role.hpp"
#include "formats/control_wire.hpp"

namespace eventloom {

/// The requests that a rank makes of all ranks and has not yet reported: commands in the order made, its signal,
/// and the end of the run's duration. Stop and end take precedence and cancel pending requests; end outranks stop. Not
/// thread-safe.
class RunRequests {
 public:
  /// `duration` of the run from the first look() on; 0: until its sources end.
  explicit RunRequests(std::chrono::nanoseconds duration) : duration_(duration) {}

  void ask(const Request& request);
  /// Call every turn. Requests an end, once, when the duration is over; and the end or the stop that `signal` means,
  /// once, at the first signal (0: none).
  void look(SteadyTime now, int signal);
  /// The request to report next; none if nothing is requested.
  [[nodiscard]] Request next() const { return asked_.empty() ? Request{} : asked_.front(); }
  /// The request that next() returned has been reported.
  void reported() {
    if (!asked_.empty()) asked_.pop_front();
  }

 private:
  std::chrono::nanoseconds duration_;
  std::deque<Request> asked_;
  SteadyTime begun_{};
  bool time_over_ = false;
  bool signalled_ = false;
};

/// Why a run stops, in words, such as "SIGUSR1".
std::string cause_of(const Request& request);

}  // namespace eventloom
