#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "io/tpx3/tpx3_packet.hpp"
#include "io/tpx3/tpx3_preview.hpp"

namespace eventloom {

/// What the clock did between two packets.
enum class Tpx3Step : std::uint8_t {
  none,
  pause,  ///< it ran on while no data were recorded
  guess,  ///< probably a pause, but it may be longer by whole periods, or the clock was reset; or the pause lasted for
          ///< a whole period of the pixels, and packets just before it belong after it
  back,   ///< it went back: a reset, or another measurement
  stray,  ///< it did nothing: the packet's time agrees with none of its neighbours
};

/// Extends the times of packets, which start again after 26.8 s (pixels) or 107 s (TDC). Within a second before or
/// after the time that the stream has reached, each packet gets the nearest place. If a packet is farther away, the
/// packets that follow show what the clock did: the global time, else the TDC, else the pixels alone. TDC and pixels
/// cannot distinguish a reset from a pause across the end of their period. If their times are just after the start of a
/// period, or the pause would exceed half a period, the clock is assumed to have gone back; otherwise a pause is
/// guessed. Between the files of one run, the clock always continues.
///
/// One second covers the usual disorder: chips with interleaved chunks are known to differ by some ms (the VENUS quad
/// at SNS), and tpx3HitParser waits for a tenth of the period where times start again.
class Tpx3Clock {
 public:
  /// 1 s.
  static constexpr std::int64_t kNear = std::int64_t{40'000'000} * kTpx3StepsPer25ns;

  struct Placed {
    std::int64_t time = 0;  ///< steps since the clock was reset; negative before the reset
    Tpx3Step step = Tpx3Step::none;
    std::int64_t from = 0;  ///< time that the stream had reached
  };

  /// Call before the first packet of a file. `turns`: how often the pixels' time had started again before the first
  /// file.
  Placed begin_file(const Tpx3Preview& preview, std::optional<std::uint64_t> turns = {});

  /// `ahead`: function that returns a Tpx3Preview, called only for a packet far from the others.
  template <class Ahead>
  Placed extend(Tpx3Time packet, Ahead&& ahead) {
    if (!now_) now_ = packet.time;
    const auto at = packet.near_to(*now_);
    const auto gap = at - *now_;
    if (gap < -kNear || gap > usual_gap()) return settle(packet, ahead());
    ++placed_;
    if (gap > kNear) count_pause(gap);
    new_file_ = false;
    now_ = std::max(*now_, at);
    return {at, Tpx3Step::none, at};
  }

  /// The time that the stream has reached; std::nullopt before the first packet.
  [[nodiscard]] std::optional<std::int64_t> now() const { return now_; }
  /// Takes a global time, which does not start again. A distant one is accepted once another follows within two
  /// seconds.
  Placed heed(std::int64_t time);

 private:
  /// Largest gap that needs no preview: longer if packets are rare, but far less than a period.
  [[nodiscard]] std::int64_t usual_gap() const {
    constexpr auto kMost = static_cast<std::int64_t>(kTpx3PixelPeriod) / 4;
    constexpr std::uint64_t kRare = 10;
    return pauses_ * kRare < placed_ ? kNear : std::clamp(2 * longest_pause_, kNear, kMost);
  }
  void count_pause(std::int64_t length) {
    ++pauses_;
    longest_pause_ = std::max(longest_pause_, length);
  }
  Placed settle(Tpx3Time packet, const Tpx3Preview& preview);
  /// Placement at a known time.
  [[nodiscard]] Placed by_reference(std::int64_t time) const;
  [[nodiscard]] Placed alone(Tpx3Time packet) const;
  [[nodiscard]] bool has_witness(std::int64_t at, const Tpx3Preview& preview) const;
  Placed move_to(Placed place);

  std::optional<std::int64_t> now_;
  std::optional<std::int64_t> global_;  ///< last global time
  std::uint64_t placed_ = 0;            ///< number of packets near their predecessors
  std::uint64_t pauses_ = 0;
  std::int64_t longest_pause_ = 0;
  bool new_file_ = false;  ///< no packet of a later file has been placed yet
};

inline double tpx3_seconds(std::int64_t steps) {
  return static_cast<double>(steps) / static_cast<double>(Tpx3Clock::kNear);
}

}  // namespace eventloom
