#pragma once

#include <memory>
#include <span>
#include <string>

#include "formats/epoch_buffer.hpp"
#include "formats/marker_counts.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// The file that `eventloom convert` writes. Errors throw UserError with the file and the reason.
class ConvertTarget {
 public:
  virtual ~ConvertTarget() = default;
  /// Appends a complete epoch buffer with a correct checksum. Epochs must be ascending.
  virtual void append(const EpochBufferHeader& header, std::span<const std::byte> stored) = 0;
  /// Renames the file to its final name. Returns a summary for the user.
  virtual std::string finish() = 0;
  /// Keeps the unfinished file under its partial name.
  virtual void abandon() = 0;
  /// Counts markers of the buffers that the format cannot represent.
  [[nodiscard]] virtual MarkerCounts left_out() const { return {}; }
};

struct ConvertFormat {
  bool spikes = false;             ///< true: .spikes; false: .epochs
  std::uint32_t channel_base = 0;  ///< spikes: the channel of label 0; labels have 16 bits

  [[nodiscard]] const char* ending() const { return spikes ? ".spikes" : ".epochs"; }
};

/// `header`: stream header of the converted source.
std::unique_ptr<ConvertTarget> open_target(const ConvertFormat& format, const std::string& path,
                                           const StreamHeader& header);

}  // namespace eventloom
