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

  /// The place nearest to `now` that the time may have.
  [[nodiscard]] std::int64_t near_to(std::int64_t now) const;
};

/// The packets that follow in a file, of which the first times show what a step of the clock is.
class Tpx3Preview {
 public:
  /// `left`: packets that the open chunk still has.
  explicit Tpx3Preview(std::size_t left = 0) : left_(left) {}

  /// The next word. False when it is neither in a chunk nor begins one.
  bool take(std::uint64_t word);

  /// When these packets begin, by the first global time, which does not start again.
  [[nodiscard]] std::optional<std::int64_t> global() const { return global_; }
  /// Likewise by the first TDC edge.
  [[nodiscard]] std::optional<Tpx3Time> tdc() const { return tdc_; }
  /// Of pixels and TDC edges, the first ones, in their order.
  [[nodiscard]] const std::vector<Tpx3Time>& times() const { return times_; }

 private:
  void take_pixel(Tpx3Time time);
  void take_tdc(std::int64_t time);
  void remember(Tpx3Time time);
  /// How long the pixels so far lasted.
  [[nodiscard]] std::int64_t elapsed() const { return first_ ? *reached_ - *first_ : 0; }

  std::size_t left_;
  std::optional<std::uint64_t> global_low_;
  std::optional<std::int64_t> global_;
  std::optional<Tpx3Time> tdc_;
  std::vector<Tpx3Time> times_;
  std::optional<std::int64_t> first_;    ///< time of the first pixel
  std::optional<std::int64_t> reached_;  ///< by the pixels since
  std::int64_t doubted_ = 0;             ///< of the last that was far ahead
};

/// The beginning of a file, up to its first global time.
Tpx3Preview preview_tpx3(const std::string& path);

}  // namespace eventloom
