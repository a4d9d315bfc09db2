#pragma once

#include <cstdint>

#include "formats/event.hpp"

namespace eventloom {

/// Destination of the selected events. Used by one thread.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// `slice` holds only owned, accepted events and a complete ledger row; slices come in ascending order. The caller
  /// may reuse the data once the call returns. Throws UserError if writing fails.
  virtual void write(const BuiltSlice& slice) = 0;
};

}  // namespace eventloom
