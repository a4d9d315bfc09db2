#pragma once

#include <cstdint>
#include <memory>

#include "core/control/clock_sync.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Collective. Whether all ranks run on one kernel and in one time namespace, whose steady clock they share.
bool share_steady_clock(const Communicator& communicator);

/// A clock shared by all ranks, for measurements: the host's own clock if all ranks are on one host, otherwise
/// synchronised clocks. Construction and destruction are collective.
class CommonClock {
 public:
  explicit CommonClock(const Communicator& communicator);
  ~CommonClock();
  CommonClock(const CommonClock&) = delete;
  CommonClock& operator=(const CommonClock&) = delete;

  [[nodiscard]] std::int64_t now() { return sync_ ? sync_->global_ns() : steady_ns(); }
  /// Uncertainty between the clocks of two ranks in ns; 0 on one host.
  [[nodiscard]] double precision_ns() const { return sync_ ? sync_->precision_ns() : 0; }
  /// Collective. Synchronises the clocks again, if there are several.
  void refresh();
  /// Compares the clocks from time to time; call it often during long measurements.
  void do_work();

 private:
  Idle idle_;
  std::unique_ptr<ClockSync> sync_;
};

}  // namespace eventloom
