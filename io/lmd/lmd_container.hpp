#pragma once

#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// Extracts the events from a file of one kind. Notes damage, and continues after it if possible.
class LmdContainer {
 public:
  virtual ~LmdContainer() = default;
  /// Reads the next event, which is valid until the next call. Returns false when none is left, or at a pause.
  virtual bool next(LmdEvent& event) = 0;
  /// Whether next() has returned false because the next event of a followed file is incomplete.
  [[nodiscard]] bool pauses() const { return pauses_; }

 protected:
  bool pauses_ = false;
};

}  // namespace eventloom
