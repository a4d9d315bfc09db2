#pragma once

#include <cstdint>

#include "formats/event.hpp"

namespace eventloom {

/// Destination of the selected events. Used by one thread.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// `slice` holds only owned, accepted events and a complete ledger row; slices come in rising order. The caller may
  /// reuse the data when the call returns. Throws UserError when writing fails.
  virtual void write(const BuiltSlice& slice) = 0;
};

}  // namespace eventloom
