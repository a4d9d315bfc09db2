#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/engine/role.hpp"

namespace eventloom {

/// Shows the progress of a run on standard error: a bar on a terminal, otherwise a line now and then.
class Progress {
 public:
  /// `active`: false on all ranks but one.
  explicit Progress(bool active);
  /// Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap unless an update is due. `slices_expected`: nothing while unknown.
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
