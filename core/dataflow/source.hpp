#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source_counts.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// The data of one source for one slice: whole epoch buffers as stored bytes, in ascending epochs, in one or several
/// pieces of memory, and the ranges of its stream that were dropped.
struct SliceData {
  std::vector<std::span<const std::byte>> pieces;
  std::vector<Damage> damage;

  void clear() {
    pieces.clear();
    damage.clear();
  }
};

/// The file of a source, for the record of the run; empty path if there is none.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  /// CRC32C of the file. In an .epochs file it covers header and index; the index holds the CRC32C of every buffer.
  std::uint32_t crc32c = 0;
};

/// One stream of epoch buffers. Used by one thread; does not communicate. Errors that end the stream throw
/// UserError with file and position.
class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  /// The user's name for it, for messages: file name, group.
  [[nodiscard]] virtual const std::string& name() const = 0;

  [[nodiscard]] virtual InputFile input() const = 0;

  /// First epoch with data; std::nullopt if the stream is empty. Streams that are read on demand read ahead until it is
  /// known.
  virtual std::optional<Epoch> first_epoch() = 0;

  /// Puts into `out` all epoch buffers and all damage that overlap `epochs`; reports a defect to standard error once,
  /// when it is found. The memory stays valid and unchanged until release_before() passes it. Calls may come in any
  /// order of epochs not yet released.
  virtual void collect(EpochRange epochs, SliceData& out) = 0;

  /// One past the last epoch with data or damage, once known: at the latest after a collect() that extends beyond it.
  /// 0 for an empty stream.
  [[nodiscard]] virtual std::optional<Epoch> end_epoch() const = 0;

  /// Damage that continues beyond end_epoch() without a known end, if the stream breaks off. Known as soon as
  /// end_epoch() is.
  [[nodiscard]] virtual std::optional<Damage> tail_damage() const = 0;

  /// First epoch at or after `from` in which an epoch buffer or a range of damage begins; std::nullopt if there is
  /// none. Streams that are read on demand read ahead until it is known. A source that cannot know returns `from`.
  virtual std::optional<Epoch> next_beginning(Epoch from) { return from; }

  /// Epochs before `epoch` will not be collected again; their memory may be freed.
  virtual void release_before(Epoch epoch) = 0;

  /// Hits read so far, in whole buffers or lost in damaged ones; complete at the end of the stream.
  [[nodiscard]] virtual std::uint64_t hits_read() const = 0;

  /// Approximate number of them that have been collected, for display.
  [[nodiscard]] virtual std::uint64_t hits_given() const { return hits_read(); }

  /// Fraction of the input converted to epoch buffers, 0 to 1, for display; std::nullopt if its length is unknown.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }

  /// Violations of the input's format, including a damaged index, that cost no hits or an unknown number: they make a
  /// run end with kExitLosses even if the ledger shows no loss.
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;

  /// Remarks to the user at the end of a run, beyond the counts: whole sentences, without the name of the source.
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

  /// Complete at the end of the stream, like hits_read().
  [[nodiscard]] virtual SourceCounts counts() const { return {}; }
};

}  // namespace eventloom
