#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/event.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Number of hits that a peer has sent, by its own count.
struct PeerCount {
  std::uint32_t session = 0;  ///< changes when the count restarts
  std::uint64_t hits = 0;
};

/// Data received from a live stream since the last call. Epochs ascend, unless the peer has jumped back: they then
/// start again.
struct FeedBatch {
  std::vector<std::byte> buffers;    ///< whole stored epoch buffers, contiguous, in ascending epochs
  std::vector<Damage> damage;        ///< stretches known to be lost, in ascending first epochs
  Epoch complete = 0;                ///< no buffer or damage that begins before this epoch will follow
  bool ended = false;                ///< the stream has ended
  std::optional<Epoch> first_epoch;  ///< first epoch of the stream, if known before its first buffer is complete
  std::optional<PeerCount> sent;     ///< the peer's count up to and including this batch, if it counts
  Epoch seen_end = 0;                ///< one past the last known epoch of the data held back by the feed
  bool held_up = false;              ///< the peer has more data, which cannot come at present

  void clear() {
    buffers.clear();
    damage.clear();
  }
};

/// The receiving side of a live input, one per source: receives on its own thread and delivers epoch buffers in order.
/// Never throws because of a peer: a peer's errors are reported once, counted, and become damage if hits are known or
/// likely to be missing.
///
/// Called by one thread. Constructors throw UserError when an address cannot be used. The destructor ends the feed's
/// thread.
class LiveFeed {
 public:
  virtual ~LiveFeed() = default;

  /// The peer's description of its stream; until the peer has sent one, that of the URI.
  [[nodiscard]] virtual StreamHeader header() const = 0;
  /// Whether header() is final.
  [[nodiscard]] virtual bool header_known() const = 0;
  /// Fixes header(); a peer whose header differs is refused from then on.
  virtual StreamHeader fix_header() { return header(); }
  /// Name of the source in messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Unix time of tick 0, ns, stated by the peer; 0: unknown.
  [[nodiscard]] virtual std::int64_t started_ns() const { return 0; }
  /// Whether the peer is connected, or has been heard, and has not ended. For messages.
  [[nodiscard]] virtual bool is_connected() const = 0;
  /// Says what came instead, in words, if the peer has sent nothing that can be used; std::nullopt: it has sent
  /// something. Known after stop(), once the feed has ended.
  [[nodiscard]] virtual std::optional<std::string> unheard() const { return std::nullopt; }

  /// Number of epochs after which times that are numbers wrap around; 0: they do not. If they do, nothing is delivered
  /// before begin_at(), and the first number is the one nearest to the run's beginning.
  [[nodiscard]] virtual Epoch wraps_after() const { return 0; }
  /// States that the run begins with this epoch.
  virtual void begin_at(Epoch /*epoch*/) {}
  /// Reports the position of the run's foremost source: the next number after a silence is the one nearest to it.
  virtual void others_at(Epoch /*epoch*/) {}

  /// Delivers the data received before epoch `end` although more could follow, then states that they are complete; data
  /// that follow are late. Returns false if the feed holds nothing back for data that may never come.
  [[nodiscard]] virtual bool settle(Epoch /*end*/) { return false; }

  /// Appends the data received to `batch` and sets its other members. Never waits.
  virtual void take(FeedBatch& batch) = 0;
  /// States, before stop(), that the run ends before this epoch.
  virtual void end_at(Epoch /*epoch*/) {}
  /// Data before this epoch are safe in the output of the run: the source need not keep them. At the end of a run
  /// that has used all, the epoch is kForever or later.
  virtual void safe_before(Epoch /*epoch*/) {}
  /// Whether the feed outlasts the run, so that data beyond its end are put back.
  [[nodiscard]] virtual bool outlasts_run() const { return false; }
  /// Takes these data back after the last take(). `rest`: the data beyond the end of the run that take() has delivered,
  /// and how far the stream has come.
  // Overriders move it. NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void put_back(FeedBatch /*rest*/) {}

  /// Stops receiving. Data already received are still delivered; then the feed ends. Never waits.
  virtual void stop() = 0;

  /// Whether the peer counts its hits: see FeedBatch::sent.
  [[nodiscard]] virtual bool counts_hits() const { return false; }
  /// See Source::remarks().
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
  /// Number of format violations that lost no known number of hits.
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;
  /// Counts for the report.
  [[nodiscard]] virtual SourceCounts counts() const = 0;
};

/// Settings for receiving live inputs, the same for all inputs of a run.
struct LiveInputSettings {
  std::size_t buffer_bytes = std::size_t{256}
                             << 20;  ///< limit of the data held for the taking thread, and of the data held for sorting
  double reconnect_seconds = 0;      ///< how long to try to reconnect to a lost server; 0: not at all
  bool waits_for_peers = false;      ///< see LiveReading
};

}  // namespace eventloom
