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
#include "io/recorded/raw_clock.hpp"

namespace eventloom {

class ClockTurns;

/// Approximate number of hits read at a time.
inline constexpr std::size_t kBlockHits = 16384;

/// A place in the input where hits were lost. The reader has reported it; this record is for counting.
struct Loss {
  std::size_t before = 0;    ///< index in the block of the next hit; the block's size if none follows
  std::uint64_t offset = 0;  ///< position in the file, bytes
  std::uint32_t hits = 0;    ///< known number of lost hits
  DropCause cause = DropCause::corrupt;
  bool leaves_hole = false;  ///< more hits may be missing between the hits before and after
  bool breaks_off = false;   ///< the input is not known to continue
};

/// Hits, stored in columns.
struct HitBlock {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  std::vector<std::uint32_t> payload;
  /// Start of each hit's words in `payload`; empty if all hits have the same number of words.
  std::vector<std::uint32_t> payload_begin;
  std::vector<Loss> losses;  ///< losses in file order

  [[nodiscard]] std::size_t size() const { return time.size(); }
  /// Payload words of hit `i`; valid until the block changes.
  [[nodiscard]] std::span<const std::uint32_t> payload_of(std::size_t i) const;
  /// Keeps the first `hits` hits; losses after them move to the end.
  void truncate(std::size_t hits);
  /// Keeps the first `hits` hits and the first `n_losses` losses; returns the rest.
  HitBlock cut(std::size_t hits, std::size_t n_losses);
  /// Appends the hits and losses of `next`.
  void append(const HitBlock& next);
  void clear();

 private:
  [[nodiscard]] std::size_t words_before(std::size_t hit) const;
  [[nodiscard]] std::vector<std::uint32_t> begins_of_payload() const;
};

/// Reads the hits of one source from a foreign format, in the order of recording, which need not be time order.
class HitReader {
 public:
  virtual ~HitReader() = default;
  /// Stream header with a uniform payload table: all hits have the same number of words, or state it in the first word.
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual InputFile input() const = 0;
  /// Replaces the contents of `block` by the next hits and losses: about ten thousand, or about 100 KiB of payload.
  /// Returns false at the end. Throws UserError with file and position when the input cannot be interpreted; formats
  /// that can locate damage report losses instead.
  virtual bool read(HitBlock& block) = 0;

  /// The turns of the open file's counter; null if the times are not those of a counter that turns.
  [[nodiscard]] virtual ClockTurns* counter() { return nullptr; }
  /// How far hits read so far may go back because the format defines no order there, as within a pulse.
  [[nodiscard]] virtual Tick unordered_within() const { return 0; }
  /// The clock that the times come from, if it is a counter that may turn without saying so; std::nullopt: it never
  /// turns, or the format states its turns.
  [[nodiscard]] virtual std::optional<RawClock> raw_clock() const { return std::nullopt; }
  /// Time of the newest hit held back for a later block; std::nullopt if there is none.
  [[nodiscard]] virtual std::optional<Tick> holds_back() const { return std::nullopt; }
  /// Delivers the hits held back without waiting for those that follow them. A reader that holds hits back only briefly
  /// need not do anything.
  virtual void release_held() {}
  /// Time of the first hit held back until the beginning of the run is known; std::nullopt if there is none.
  [[nodiscard]] virtual std::optional<Tick> held_from() const { return std::nullopt; }
  /// Whether the peer of a live source has been lost and is searched for.
  [[nodiscard]] virtual bool is_away() const { return false; }
  /// Fraction of the input that has been read, 0 to 1; std::nullopt if its length is unknown.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }
  /// Number of defects not among the losses, which lost no hits or an unknown number.
  [[nodiscard]] virtual std::uint64_t anomalies() const { return 0; }
  /// Counts specific to the format, for the report.
  [[nodiscard]] virtual SourceCounts counts() const { return {}; }
};

}  // namespace eventloom
