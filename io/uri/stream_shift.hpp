#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The changes that the keys `system` and `offset` make to a stream of any format.
class StreamShift {
 public:
  StreamShift() = default;
  /// `header` describes the stream. Throws UserError when a key is invalid or the stream does not allow the change.
  StreamShift(const SourceUri& uri, const StreamHeader& header);

  /// Whether anything changes.
  [[nodiscard]] bool any() const { return system_.has_value() || offset_ != 0; }
  [[nodiscard]] std::int64_t offset() const { return offset_; }

  /// Whether the change fits the payload: setting the system requires the same payload length in every system.
  [[nodiscard]] bool fits(const PayloadTable& payload) const;
  void keep_systems() { system_.reset(); }

  /// std::nullopt when the result lies before tick 0 or overflows.
  [[nodiscard]] std::optional<Tick> time(Tick time) const {
    Tick shifted = 0;
    return __builtin_add_overflow(time.value, offset_, &shifted.value) ? std::nullopt : std::optional(shifted);
  }
  [[nodiscard]] std::uint32_t channel(std::uint32_t channel) const {
    return system_ ? (channel & 0x3fffffU) | *system_ << 22 : channel;
  }

 private:
  std::optional<std::uint32_t> system_;
  std::int64_t offset_ = 0;  ///< ticks
};

}  // namespace eventloom
