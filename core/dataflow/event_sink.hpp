#pragma once

#include <cstdint>

#include "formats/event.hpp"

namespace eventloom {

/// Where selected events go. Used by one thread.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// `slice` holds owned, accepted events only and a complete ledger row; slices come in rising
  /// order. The data may be reused by the caller when the call returns. Throws UserError when it
  /// cannot be written.
  virtual void write(const BuiltSlice& slice) = 0;
};

}  // namespace eventloom
