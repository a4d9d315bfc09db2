#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Tracks a live source's position by its own count or its event numbers, and determines by them what it sent while the
/// run was interrupted, if the source has either.
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
  /// Whether the source's first data in this invocation are awaited.
  [[nodiscard]] bool awaits_first() const { return awaits_first_; }
  /// Whether the run is resumed, and nothing shows yet what the source sent meanwhile.
  [[nodiscard]] bool is_open() const { return past_.has_value(); }
  /// Takes the first data, and compares them with the earlier invocation, if there was one.
  Missed join(const First& first);
  /// The run ends without data: unknown, if is_open().
  Missed end();
  /// After join(): whether the source's count continues that of the earlier invocation, so that everything sent since
  /// then belongs to the run.
  [[nodiscard]] bool continues() const { return continues_; }

  /// See LiveBegin.
  void keep(std::function<void(const PeerPlace&)> keep) { keep_ = std::move(keep); }
  /// Records the source's position once something is known of it. `sent`: the peer's count; `hits`: hits in this
  /// invocation of the run, including missed ones.
  void note_place(const std::optional<PeerCount>& sent, std::uint64_t hits);
  /// The run has been stopped before epoch `end`, after all event numbers before `next`.
  void note_stop(Tick next, Epoch end);

 private:
  Missed missed_since(const LivePast& past, const First& first);
  Missed missed_hits(const LivePast& past, const First& first);

  bool awaits_first_ = true;
  std::optional<LivePast> past_;
  std::uint64_t earlier_hits_ = 0;
  bool continues_ = false;
  std::function<void(const PeerPlace&)> keep_;
  PeerPlace place_;
  std::optional<PeerPlace> kept_;
};

}  // namespace eventloom
