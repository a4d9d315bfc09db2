#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "formats/datagram.hpp"

namespace eventloom {

/// What a board says of its stream: fixed by its first header datagram, or when the run begins if none has
/// come till then. Any thread.
class BoardHeader {
 public:
  /// `base`: the run's, which the board's must be. `assumed`: as long as the board has said nothing.
  BoardHeader(const TimeBase& base, StreamHeader assumed);

  /// A header datagram. When the run cannot take such a stream: why.
  std::optional<std::string> take(const DatagramStream& stream);
  /// header(), which is from now on what it is.
  StreamHeader settle();

  [[nodiscard]] StreamHeader header() const;
  [[nodiscard]] bool known() const;
  /// Unix time of tick 0; 0: not known.
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
