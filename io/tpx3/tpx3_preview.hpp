#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/tpx3/tpx3_packet.hpp"

namespace eventloom {

/// A time that starts again after `period`.
struct Tpx3Time {
  std::int64_t time = 0;
  std::uint64_t period = kTpx3PixelPeriod;

  /// The possible value of the time that is nearest to `now`.
  [[nodiscard]] std::int64_t near_to(std::int64_t now) const {
    const auto half = static_cast<std::int64_t>(period / 2);
    const std::int64_t ahead = time - now;
    return ahead >= -half && ahead < half ? time : nearest_to(now);
  }

 private:
  [[nodiscard]] std::int64_t nearest_to(std::int64_t now) const;
};

/// A preview of the packets that follow in a file, whose first times show what a step of the clock means.
class Tpx3Preview {
 public:
  /// `left`: packets left in the open chunk.
  explicit Tpx3Preview(std::size_t left = 0) : left_(left) {}

  /// Takes the next word. Returns false if it is not in a chunk and does not begin one.
  bool take(std::uint64_t word);

  /// Beginning of these packets according to the first global time, which does not start again.
  [[nodiscard]] std::optional<std::int64_t> global() const { return global_; }
  /// Beginning of these packets according to the first TDC edge.
  [[nodiscard]] std::optional<Tpx3Time> tdc() const { return tdc_; }
  /// Times of the first pixels and TDC edges, in order.
  [[nodiscard]] const std::vector<Tpx3Time>& times() const { return times_; }

 private:
  void take_pixel(Tpx3Time time);
  void take_tdc(std::int64_t time);
  void remember(Tpx3Time time);
  /// Duration of the pixels so far.
  [[nodiscard]] std::int64_t elapsed() const { return first_ ? *reached_ - *first_ : 0; }

  std::size_t left_;
  std::optional<std::uint64_t> global_low_;
  std::optional<std::int64_t> global_;
  std::optional<Tpx3Time> tdc_;
  std::vector<Tpx3Time> times_;
  std::optional<std::int64_t> first_;    ///< time of the first pixel
  std::optional<std::int64_t> reached_;  ///< latest time reached by the pixels
  std::int64_t doubted_ = 0;             ///< time of the last pixel; confirms a jump ahead if the next one is near
};

/// Previews the beginning of a file, up to its first global time.
Tpx3Preview preview_tpx3(const std::string& path);

}  // namespace eventloom
