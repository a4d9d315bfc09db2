#pragma once

#include <memory>
#include <span>
#include <string>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// The file that `eventloom convert` writes. Errors throw UserError with file and reason.
class ConvertTarget {
 public:
  virtual ~ConvertTarget() = default;
  /// One whole epoch buffer with its right checksum, in rising epochs.
  virtual void append(const EpochBufferHeader& header, std::span<const std::byte> stored) = 0;
  /// Gives the file its name. Returns what is in it, for people.
  virtual std::string finish() = 0;
  /// Leaves what has been written where it is, under its name for what is unfinished.
  virtual void abandon() = 0;
};

struct ConvertFormat {
  bool spikes = false;             ///< .spikes; else .epochs
  std::uint32_t channel_base = 0;  ///< of spikes: channels are written as labels of 16 bits from here on

  [[nodiscard]] const char* ending() const { return spikes ? ".spikes" : ".epochs"; }
};

/// `header`: of the source that is converted.
std::unique_ptr<ConvertTarget> open_target(const ConvertFormat& format, const std::string& path,
                                           const StreamHeader& header);

}  // namespace eventloom
