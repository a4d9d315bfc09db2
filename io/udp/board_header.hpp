#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "formats/datagram.hpp"

namespace eventloom {

/// A board's description of its stream, fixed by the board's first header datagram, or at the start of the run if none
/// has arrived. Thread-safe.
class BoardHeader {
 public:
  /// `base`: the run's time base, which the board's must equal. `assumed`: used until the board has sent its own
  /// header.
  BoardHeader(const TimeBase& base, StreamHeader assumed);

  /// Takes a header datagram. Returns the reason if the run cannot use such a stream.
  std::optional<std::string> take(const DatagramStream& stream);
  /// Fixes and returns header().
  StreamHeader fix();

  [[nodiscard]] StreamHeader header() const;
  [[nodiscard]] bool known() const;
  /// Unix time of tick 0, ns; 0: unknown.
  [[nodiscard]] std::int64_t started_ns() const;
  [[nodiscard]] const TimeBase& base() const { return base_; }

 private:
  const TimeBase base_;
  mutable std::mutex mutex_;
  StreamHeader header_;
  bool known_ = false;
  std::int64_t started_ns_ = 0;
};

}  // namespace eventloom
