#pragma once

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// Extracts the events from a file of one kind. Notes damage, and continues after it if possible.
class LmdContainer {
 public:
  virtual ~LmdContainer() = default;
  /// Reads the next event, which is valid until the next call. Returns false when none is left.
  virtual bool next(LmdEvent& event) = 0;
};

}  // namespace eventloom
