#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Tracks a live source's position by its own count, and determines what it sent while the run was interrupted: by that
/// count or by event numbers, if the source has either.
class LiveReturn {
 public:
  /// The first data of the source in this invocation.
  struct First {
    bool counts = false;              ///< the peer counts its hits
    std::optional<PeerPlace> joined;  ///< the peer's session, and the number of hits it had sent before these
    bool numbered = false;            ///< times are event numbers that do not wrap around
    Tick time = 0;                    ///< time of the first hit
    Epoch epoch = 0;
    std::uint32_t epoch_ticks = 1;
  };
  /// Losses during the interruption; all members are 0 if there are none.
  struct Missed {
    std::uint64_t hits = 0;
    std::uint64_t numbers = 0;
    bool unknown = false;  ///< the amount is unknown
    std::string text;      ///< message; empty if nothing was missed

    [[nodiscard]] bool any() const { return hits != 0 || numbers != 0 || unknown; }
  };

  /// The run is resumed after `past`; the source's first data are awaited.
  void resume_after(const LivePast& past);
  [[nodiscard]] bool awaits_first() const { return past_.has_value(); }
  /// Compares the first data with the earlier invocation.
  Missed join(const First& first);
  /// After join(): whether the source's count continues that of the earlier invocation, so that everything sent since
  /// then belongs to the run.
  [[nodiscard]] bool continues() const { return continues_; }

  /// See LiveStream::keep_place().
  void keep(std::function<void(const PeerPlace&)> keep) { keep_ = std::move(keep); }
  /// Records the source's position. `sent`: the peer's count; `hits`: hits in this invocation of the run, including
  /// missed ones.
  void note_place(const std::optional<PeerCount>& sent, std::uint64_t hits);

 private:
  Missed missed_hits(const LivePast& past, const First& first);

  std::optional<LivePast> past_;
  std::uint64_t earlier_hits_ = 0;
  bool continues_ = false;
  std::function<void(const PeerPlace&)> keep_;
  std::optional<PeerPlace> kept_;
};

}  // namespace eventloom
