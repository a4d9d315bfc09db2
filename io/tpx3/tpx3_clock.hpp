#pragma once

#include <cstdint>
#include <optional>

#include "io/tpx3/tpx3_packet.hpp"

namespace eventloom {

/// Extends the times of packets, which start again after 26.8 s (pixels) or 107 s (TDC), beyond that: each to the one
/// nearest to the time that the stream has reached. Packets may come out of order, by up to half of their period. A
/// time that lies more than a second ahead is believed, and moves the stream on, once the next packet agrees: a single
/// broken one changes nothing.
class Tpx3Clock {
 public:
  /// In steps since the clock was reset; negative within an FToA of it.
  std::int64_t extend(std::int64_t time, std::uint64_t period);
  /// The time that the stream has reached, before its first packet.
  void set(std::int64_t time) { now_ = time; }
  /// A global time, which does not start again: it moves the stream on where pixels are rare. One far ahead is believed
  /// once another follows within two seconds of it.
  void heed(std::int64_t time);

 private:
  static constexpr std::int64_t kNear = std::int64_t{40'000'000} * kTpx3StepsPer25ns;  ///< 1 s

  std::optional<std::int64_t> now_;
  std::optional<std::int64_t> doubted_;
  std::optional<std::int64_t> global_;  ///< the last
};

}  // namespace eventloom
