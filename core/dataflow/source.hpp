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

/// The data of one source for one slice: whole epoch buffers as stored bytes, in rising epochs, in one or several
/// pieces of memory, and the stretches of its stream that were dropped.
struct SliceData {
  std::vector<std::span<const std::byte>> pieces;
  std::vector<Damage> damage;

  void clear() {
    pieces.clear();
    damage.clear();
  }
};

/// The file of a source, for the record of the run; empty path when there is none.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  /// CRC32C of the file; of an .epochs file: of its header and its index, which holds the CRC32C
  /// of every buffer.
  std::uint32_t crc32c = 0;
};

/// One stream of epoch buffers. Used by one thread; does not communicate. Errors that end the stream throw UserError
/// with file and place.
class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  /// As the user knows it, for messages: file name, group.
  [[nodiscard]] virtual const std::string& name() const = 0;

  [[nodiscard]] virtual InputFile input() const = 0;

  /// First epoch with data; nothing when the stream is empty. Streams that are read on demand read ahead until they
  /// know.
  virtual std::optional<Epoch> first_epoch() = 0;

  /// Puts into `out` all epoch buffers and all damage that overlap `epochs`; a defect is reported to standard error
  /// once, when it is found. The memory stays valid and unchanged until release_before() passes it. Calls may come in
  /// any order of epochs not yet released.
  virtual void collect(EpochRange epochs, SliceData& out) = 0;

  /// One past the last epoch with data or damage, as soon as it is known: at the latest after a collect() that reaches
  /// beyond it. 0 for an empty stream.
  [[nodiscard]] virtual std::optional<Epoch> end_epoch() const = 0;

  /// Damage that continues beyond end_epoch() without a known end: the stream breaks off. Known as soon as end_epoch()
  /// is.
  [[nodiscard]] virtual std::optional<Damage> tail_damage() const = 0;

  /// First epoch from `from` on in which an epoch buffer or a stretch of damage begins; nothing when there is none.
  /// Streams that are read on demand read ahead until they know. A source that does not know returns `from`.
  virtual std::optional<Epoch> next_beginning(Epoch from) { return from; }

  /// Epochs before `epoch` will not be collected again; their memory may be freed.
  virtual void release_before(Epoch epoch) = 0;

  /// Hits read so far, in whole buffers or lost in damaged ones; complete at the end of the stream.
  [[nodiscard]] virtual std::uint64_t hits_read() const = 0;

  /// About how many of them have been collected, for those who watch.
  [[nodiscard]] virtual std::uint64_t hits_given() const { return hits_read(); }

  /// How much of the input has been made into epoch buffers, 0 to 1, for those who watch; nothing when its length is
  /// not known.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }

  /// Violations of the input's format, a damaged index included, that cost no hits or an unknown number of them: they
  /// make a run end with kExitLosses though the ledger shows no loss.
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;

  /// What people must know at the end of a run beyond the counts: whole sentences, without the name of the source.
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

  /// Complete at the end of the stream, like hits_read().
  [[nodiscard]] virtual SourceCounts counts() const { return {}; }
};

}  // namespace eventloom
