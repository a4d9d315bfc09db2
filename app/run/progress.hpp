#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/engine/role.hpp"

namespace eventloom {

/// Shows on standard error how far a run is: a bar on a terminal, otherwise a line now and then.
class Progress {
 public:
  /// `active`: false on all ranks but one.
  explicit Progress(bool active);
  /// Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap unless something is due to be shown. `slices_expected`: nothing while unknown.
  void update(SteadyTime now, std::uint64_t slices, std::optional<std::uint64_t> slices_expected);

 private:
  bool active_;
  bool terminal_;
  SteadyTime start_;
  SteadyTime next_;
  SteadyTime::duration interval_;
  bool bar_shown_ = false;
};

}  // namespace eventloom
