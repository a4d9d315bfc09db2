#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dataflow/live_stream.hpp"
#include "formats/geometry.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Where a live source stands by its own count, and what it sent while a run that is resumed was not there: told by
/// that count or by event numbers, where the source has either.
class LiveReturn {
 public:
  /// The first data of the source in this invocation.
  struct First {
    bool counts = false;              ///< the peer counts its hits
    std::optional<PeerPlace> joined;  ///< its session, and how many hits it had sent before these
    bool numbered = false;            ///< times are event numbers that do not wrap around
    Tick time = 0;                    ///< of the first hit
    Epoch epoch = 0;
    std::uint32_t epoch_ticks = 1;
  };
  /// What was missed. Without losses all are 0.
  struct Missed {
    std::uint64_t hits = 0;
    std::uint64_t numbers = 0;
    bool unknown = false;  ///< how much
    std::string text;      ///< for people: empty when nothing was missed

    [[nodiscard]] bool any() const { return hits != 0 || numbers != 0 || unknown; }
  };

  /// The run is resumed; first data are awaited.
  void resume_after(const LivePast& past);
  [[nodiscard]] bool awaits_first() const { return past_.has_value(); }
  /// Compares the first data with what was known.
  Missed join(const First& first);
  /// After join(): its count goes on from that of the earlier invocation, so that whatever it has sent since then
  /// belongs to the run.
  [[nodiscard]] bool goes_on() const { return goes_on_; }

  /// See LiveStream::keep_place().
  void keep(std::function<void(const PeerPlace&)> keep) { keep_ = std::move(keep); }
  /// `sent` by the peer: `hits` of it are in this invocation of the run, those missed included.
  void note_place(const std::optional<PeerCount>& sent, std::uint64_t hits);

 private:
  Missed missed_hits(const LivePast& past, const First& first);

  std::optional<LivePast> past_;
  std::uint64_t earlier_hits_ = 0;
  bool goes_on_ = false;
  std::function<void(const PeerPlace&)> keep_;
  std::optional<PeerPlace> kept_;
};

}  // namespace eventloom
