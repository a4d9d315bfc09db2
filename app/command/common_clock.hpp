#pragma once

#include <cstdint>
#include <memory>

#include "core/control/clock_sync.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// A clock shared by all ranks, for measurements: the host's own where all are on one host, otherwise synchronised
/// ones. Construction and destruction are collective.
class CommonClock {
 public:
  explicit CommonClock(const Communicator& communicator);
  ~CommonClock();
  CommonClock(const CommonClock&) = delete;
  CommonClock& operator=(const CommonClock&) = delete;

  [[nodiscard]] std::int64_t now() { return sync_ ? sync_->global_ns() : steady_ns(); }
  /// Uncertainty between the clocks of two ranks, ns; 0 on one host.
  [[nodiscard]] double precision_ns() const { return sync_ ? sync_->precision_ns() : 0; }
  /// Collective: synchronises the clocks again, where there are several.
  void refresh();
  /// To be called often during long measurements: compares the clocks now and then.
  void do_work();

 private:
  Idle idle_;
  std::unique_ptr<ClockSync> sync_;
};

}  // namespace eventloom
