#pragma once

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// Finds the events of a file of one kind. Notes damage and continues after it where it can.
class LmdContainer {
 public:
  virtual ~LmdContainer() = default;
  /// False when there are none left. `event` is valid until the next call.
  virtual bool next(LmdEvent& event) = 0;
};

}  // namespace eventloom
