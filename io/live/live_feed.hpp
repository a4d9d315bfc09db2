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

/// How much a peer has sent, by its own count.
struct PeerCount {
  std::uint32_t session = 0;  ///< changes when the count begins anew
  std::uint64_t hits = 0;
};

/// Data received from a live stream since the last call. Epochs rise, except where the peer has jumped back: after that
/// they start again.
struct FeedBatch {
  std::vector<std::byte> buffers;    ///< whole stored epoch buffers back to back, in rising epochs
  std::vector<Damage> damage;        ///< stretches known to be lost, in rising first epochs
  Epoch complete = 0;                ///< no buffer or damage that begins before this epoch will follow
  bool ended = false;                ///< nothing follows at all
  std::optional<Epoch> first_epoch;  ///< in which the stream begins, when known before its first buffer is complete
  std::optional<PeerCount> sent;     ///< what is delivered with this batch and before, where the peer counts
  Epoch seen_end = 0;                ///< one past the last epoch of the data held back by the feed, as far as known

  void clear() {
    buffers.clear();
    damage.clear();
  }
};

/// The receiving side of a live input, one per source: receives on a thread of its own and delivers epoch buffers in
/// order. Never throws because of a peer: its errors are reported once, counted, and become damage where hits are known
/// or likely to be missing.
///
/// Called by one thread; constructors throw UserError when an address cannot be used. The destructor ends the thread.
class LiveFeed {
 public:
  virtual ~LiveFeed() = default;

  /// The peer's description of its stream, or that of the URI until the peer has sent one.
  [[nodiscard]] virtual StreamHeader header() const = 0;
  /// header() will not change any more.
  [[nodiscard]] virtual bool header_known() const = 0;
  /// Fixes header(): a peer that later differs from it is refused.
  virtual StreamHeader fix_header() { return header(); }
  /// As the user knows it, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Unix time of tick 0, ns, as the peer states; 0: unknown.
  [[nodiscard]] virtual std::int64_t started_ns() const { return 0; }
  /// The peer is connected, or has been heard, and has not ended. For messages.
  [[nodiscard]] virtual bool is_connected() const = 0;

  /// Where times are numbers that wrap around: the epochs after which they start again. Nothing is delivered before
  /// begin_at(), and the first number is then the one nearest to the run's beginning. 0: times do not wrap.
  [[nodiscard]] virtual Epoch wraps_after() const { return 0; }
  /// The run begins with this epoch.
  virtual void begin_at(Epoch /*epoch*/) {}
  /// The foremost source of the run is here: the next number after a silence is the one nearest to it.
  virtual void others_at(Epoch /*epoch*/) {}

  /// Delivers what has been received of epochs before `end` though more of them could follow, and states then that it
  /// is complete; what follows is late. False where it holds nothing back for data that may never come.
  [[nodiscard]] virtual bool settle(Epoch /*end*/) { return false; }

  /// Appends the data received to `batch` and sets its other members. Never waits.
  virtual void take(FeedBatch& batch) = 0;
  /// Stops receiving; data already received are still delivered, then the feed ends. Never waits.
  virtual void stop() = 0;

  /// The peer counts what it sends: see FeedBatch::sent.
  [[nodiscard]] virtual bool counts_hits() const { return false; }
  /// As Source::remarks().
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
  /// Violations of the input's format that cost no known number of hits.
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;
  /// For the report.
  [[nodiscard]] virtual SourceCounts counts() const = 0;
};

/// How live inputs are received, the same for all inputs of a run.
struct LiveInputSettings {
  std::size_t buffer_bytes = std::size_t{256}
                             << 20;  ///< most a feed holds for the taking thread, and as much to put in order
  double reconnect_seconds = 0;      ///< how long a lost server is searched for; 0: not at all
};

}  // namespace eventloom
