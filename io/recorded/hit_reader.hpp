#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/event.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Approximate number of hits read at a time.
inline constexpr std::size_t kBlockHits = 16384;

/// A place of the input that gave no hits. The reader has reported it; here it is counted.
struct Loss {
  std::size_t before = 0;    ///< index in the block of the next hit; its size when none follows
  std::uint64_t offset = 0;  ///< bytes in the file
  std::uint32_t hits = 0;    ///< that were lost, as far as known
  DropCause cause = DropCause::corrupt;
  bool leaves_hole = false;  ///< more than these may be missing between the hits before and after
  bool breaks_off = false;   ///< nothing follows, as far as known
};

/// Hits in columns.
struct HitBlock {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint32_t> payload;
  /// Start of the words of each hit in `payload`; empty when all hits have equally many.
  std::vector<std::uint32_t> payload_begin;
  std::vector<Loss> losses;  ///< in the order of the file

  [[nodiscard]] std::size_t size() const { return time.size(); }
  /// Words of hit `i`; valid until the block changes.
  [[nodiscard]] std::span<const std::uint32_t> payload_of(std::size_t i) const;
  /// Keeps the first `hits` hits; later losses move to the end.
  void truncate(std::size_t hits);
  /// Keeps the first `hits` hits and the first `n_losses` losses; returns the rest.
  HitBlock cut(std::size_t hits, std::size_t n_losses);
  /// The hits and losses of `next` behind these.
  void append(const HitBlock& next);
  void clear();

 private:
  [[nodiscard]] std::size_t words_before(std::size_t hit) const;
  [[nodiscard]] std::vector<std::uint32_t> begins_of_payload() const;
};

/// Reads the hits of one source from a foreign format, in the order of recording, which need not be the order of time.
class HitReader {
 public:
  virtual ~HitReader() = default;
  /// The payload table is uniform: every hit has the same number of words, or has it in the first word.
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual InputFile input() const = 0;
  /// Replaces the contents of `block` by the next hits and losses: some ten thousand, or some 100 KiB of payload; false
  /// at the end. Throws UserError with file and place when the input cannot be understood at all; formats that can
  /// locate damage report losses instead.
  virtual bool read(HitBlock& block) = 0;

  /// How far back hits may come in what has been read because the format has no order there, as within a pulse.
  [[nodiscard]] virtual Tick unordered_within() const { return 0; }
  /// Time of the newest hit held back for a later block; nothing when none is.
  [[nodiscard]] virtual std::optional<Tick> holds_back() const { return std::nullopt; }
  /// Time of the first hit held back until it is known where the run begins; nothing when none is.
  [[nodiscard]] virtual std::optional<Tick> held_from() const { return std::nullopt; }
  /// How much of the input has been read, 0 to 1; nothing when its length is not known.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }
  /// Defects that cost no hits, or an unknown number of them, and are not among the losses.
  [[nodiscard]] virtual std::uint64_t anomalies() const { return 0; }
  /// Counts of the format, by name, for the report.
  [[nodiscard]] virtual SourceCounts counts() const { return {}; }
};

}  // namespace eventloom
