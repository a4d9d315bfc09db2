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
  pause,  ///< it ran on while nothing was recorded
  guess,  ///< likewise, perhaps: the pause may be longer by whole periods, or the clock was reset; or packets just
          ///< before belong behind it, as it lasted for a whole period of the pixels
  back,   ///< it went back: a reset, or another measurement
  stray,  ///< nothing: the packet's time fits none of its neighbours'
};

/// Extends the times of packets, which start again after 26.8 s (pixels) or 107 s (TDC), beyond that: within a second
/// of the time that the stream has reached, before it or after it, each packet has the nearest place. Only where a
/// packet is farther away is it asked what the clock did, from the packets that follow: by the global time, else by the
/// TDC, else by the pixels alone. These cannot tell a reset from a pause across the place where they start again. Where
/// they come out right at their beginning, or would have paused for more than half of their period, the clock has gone
/// back; else a pause is guessed. Between the files of one run it always goes on.
///
/// A second is the disorder that is taken for granted: of chips whose chunks interleave some ms are known (the VENUS
/// quad at SNS), and a tenth of the period is what tpx3HitParser waits for at the place where times start again.
class Tpx3Clock {
 public:
  /// 1 s.
  static constexpr std::int64_t kNear = std::int64_t{40'000'000} * kTpx3StepsPer25ns;

  struct Placed {
    std::int64_t time = 0;  ///< in steps since the clock was reset; negative before
    Tpx3Step step = Tpx3Step::none;
    std::int64_t from = 0;  ///< the time that the stream had reached
  };

  /// Before the first packet of a file. `turns`: how often the pixels' time had started again before the first file.
  Placed begin_file(const Tpx3Preview& preview, std::optional<std::uint64_t> turns = {});

  /// `ahead`: a function that returns a Tpx3Preview, called only for a packet far from the others.
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

  /// The time that the stream has reached; nothing before the first packet.
  [[nodiscard]] std::optional<std::int64_t> now() const { return now_; }
  /// A global time, which does not start again. One far away is believed once another follows within two seconds of it.
  Placed heed(std::int64_t time);

 private:
  /// Longer where packets are rare; far less than a period.
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
  /// A time that is known.
  [[nodiscard]] Placed by_reference(std::int64_t time) const;
  [[nodiscard]] Placed alone(Tpx3Time packet) const;
  [[nodiscard]] bool has_witness(std::int64_t at, const Tpx3Preview& preview) const;
  Placed move_to(Placed place);

  std::optional<std::int64_t> now_;
  std::optional<std::int64_t> global_;  ///< the last
  std::uint64_t placed_ = 0;            ///< packets near those before them
  std::uint64_t pauses_ = 0;
  std::int64_t longest_pause_ = 0;
  bool new_file_ = false;  ///< no packet of it has been placed
};

inline double tpx3_seconds(std::int64_t steps) {
  return static_cast<double>(steps) / static_cast<double>(Tpx3Clock::kNear);
}

}  // namespace eventloom
