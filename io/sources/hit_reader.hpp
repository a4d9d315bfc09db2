#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Hits in columns; `payload` holds the same number of words for each hit.
struct HitBlock {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint32_t> payload;

  [[nodiscard]] std::size_t size() const { return time.size(); }
  void clear() {
    time.clear();
    channel.clear();
    payload.clear();
  }
};

/// Reads the hits of one source from a foreign format, in the order in which they were recorded,
/// which need not be that of time.
class HitReader {
 public:
  virtual ~HitReader() = default;
  /// The payload table is uniform: every hit has as many words.
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual InputFile input() const = 0;
  /// Replaces the contents of `block` by the next hits, some ten thousand at most; false when there
  /// are none left. Throws UserError with file and place when the input cannot be understood.
  virtual bool read(HitBlock& block) = 0;
};

}  // namespace eventloom
