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

/// What has come of a live stream since it was last asked. Epochs rise, but where the peer has jumped back: behind that
/// they begin anew.
struct FeedBatch {
  std::vector<std::byte> buffers;    ///< whole stored epoch buffers one behind the other, in rising epochs
  std::vector<Damage> damage;        ///< stretches that are known to be lost, in rising first epochs
  Epoch complete = 0;                ///< no buffer or damage that begins before this epoch will follow
  bool ended = false;                ///< nothing follows at all
  std::optional<Epoch> first_epoch;  ///< in which the stream begins, when known before its first buffer is complete
  Epoch seen_end = 0;                ///< one past the last epoch of what the feed holds back, as far as known

  void clear() {
    buffers.clear();
    damage.clear();
  }
};

/// The receiving side of a live input, one per source: takes in what comes on a thread of its own and hands
/// it over as epoch buffers in order. Never throws for what a peer does: that is told once, counted, and
/// given as damage where hits are known or likely to be missing.
///
/// One thread calls; constructors throw UserError when an address cannot be used. The destructor ends the thread.
class LiveFeed {
 public:
  virtual ~LiveFeed() = default;

  /// What the peer says of its stream, or what the URI says as long as it has said nothing.
  [[nodiscard]] virtual StreamHeader header() const = 0;
  /// header() will not change any more.
  [[nodiscard]] virtual bool header_known() const = 0;
  /// From here on a peer that says otherwise than header() does now is refused.
  virtual StreamHeader settle_header() { return header(); }
  /// As the user knows it, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Unix time of tick 0, ns, as the peer says; 0: it does not.
  [[nodiscard]] virtual std::int64_t started_ns() const { return 0; }
  /// A peer is there: connected, or heard of, and has not ended. For messages.
  [[nodiscard]] virtual bool is_connected() const = 0;

  /// Appends to `batch` what has come and sets the rest of it. Never waits.
  virtual void take(FeedBatch& batch) = 0;
  /// Nothing more is taken in from outside; what has come is still handed over, then the feed ends. Never waits.
  virtual void stop() = 0;

  /// Places where the input was not as its format says that cost no known number of hits.
  [[nodiscard]] virtual std::uint64_t anomalies() const = 0;
  /// For the report.
  [[nodiscard]] virtual SourceCounts counts() const = 0;
};

/// How live inputs are received, the same for all of a run.
struct LiveInputSettings {
  std::size_t buffer_bytes = std::size_t{256}
                             << 20;  ///< that a feed holds for those who take, at most, and to put in order
  double reconnect_seconds = 0;      ///< for so long a lost server is looked for again; 0: not at all
};

}  // namespace eventloom
