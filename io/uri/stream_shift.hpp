#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// What the keys `system` and `offset` change in a stream, whatever its format.
class StreamShift {
 public:
  StreamShift() = default;
  /// `header`: of the stream. Throws UserError when a key is invalid, or the stream cannot be changed like this.
  StreamShift(const SourceUri& uri, const StreamHeader& header);

  /// Whether anything changes.
  [[nodiscard]] bool any() const { return system_.has_value() || offset_ != 0; }
  [[nodiscard]] std::int64_t offset() const { return offset_; }

  /// Whether systems can be set where hits have such payload: as long in any system.
  [[nodiscard]] bool fits(const PayloadTable& payload) const;
  void keep_systems() { system_.reset(); }

  /// Nothing when the result is not a tick: before tick 0.
  [[nodiscard]] std::optional<Tick> time(Tick time) const {
    Tick shifted = 0;
    return __builtin_add_overflow(time, offset_, &shifted) ? std::nullopt : std::optional(shifted);
  }
  [[nodiscard]] std::uint32_t channel(std::uint32_t channel) const {
    return system_ ? (channel & 0x3fffffU) | *system_ << 22 : channel;
  }

 private:
  std::optional<std::uint32_t> system_;
  std::int64_t offset_ = 0;  ///< ticks
};

}  // namespace eventloom
