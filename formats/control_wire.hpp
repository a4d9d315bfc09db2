#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "formats/ids.hpp"

/// Every control message of a run, by direction; little-endian, fields as drawn, unused fields zero. Ends of streams,
/// gaps and credits travel with the data: see ring_layout.hpp.
///
///   from                 to                          message                    by
///   every rank           rank 0                      RankStatus                 Heartbeat, two-sided
///   every rank           rank 0                      telemetry_wire.hpp         Telemetry, two-sided, once a second
///   rank 0               ranks with writers          CellsHead, see there       HistogramFeed, two-sided, on request
///   rank 0               every rank                  HeartbeatNote              Heartbeat
///   rank 0               every other rank            ClockMessage (not answer)  ClockSync, two-sided
///   every other rank     rank 0                      ClockMessage (answer)      ClockSync
///   ranks with builders  the assigner                Claims                     NoteSender, a ring
///   the assigner         ranks that send to          Assignment, then 4 bytes   NoteSender
///                        builders or build           for each of its builders
namespace eventloom {

/// Positions of live sources: the number in step with the run, and those that have jumped ahead of it, by position.
/// The votes of all ranks are summed; see core/control/live_votes.hpp.
struct LiveVotes {
  static constexpr std::size_t kPlaces = 16;
  struct Place {
    Epoch epoch = 0;
    std::uint64_t votes = 0;
  };

  Epoch near = 0;             ///< positions at most this many epochs apart count as equal; the same on all ranks
  std::uint64_t in_step = 0;  ///< number of sources in step
  std::uint64_t others = 0;   ///< number of sources that have jumped back, or to positions for which there was no room
  std::array<Place, kPlaces> places{};
};
static_assert(sizeof(LiveVotes) == 280 && std::has_unique_object_representations_v<LiveVotes>);

/// Requests that any rank may make, at any time, any number of times. All ranks receive a request in the round that
/// reports it. If there are several in one round, the one listed last here takes effect, and the others are void:
///
///   while the run  | pause             | resume      | stop, end
///   ---------------+-------------------+-------------+--------------------------------------------
///   is running     | pauses            | no effect   | ends cleanly
///   is paused      | no effect         | continues   | ends cleanly, without continuing
///   is ending      | no effect         | no effect   | no effect: the first counts
///
/// One resume undoes any number of pauses by any rank. Speed, new file and reset also take effect during a pause.
enum class Command : std::uint8_t {
  none,
  pause,     ///< no source begins a slice beyond the highest begun by any; all slices up to it are built
  resume,    ///< continue
  speed,     ///< send recordings at another speed
  new_file,  ///< each writer finishes its current part and begins another with its next slice
  reset,     ///< the histograms that the monitor serves begin again from zero; the output's do not
  stop,      ///< end such that another run can resume this one
  end,       ///< like stop, but live sources' data end here, and the run is then complete
};

/// Cause of a rank's request.
enum class Cause : std::uint8_t {
  command,  ///< a user's command
  signal,
  writer,    ///< the rank cannot write what it has built
  time,      ///< the requested duration is over
  judge,     ///< the user's program that judges events has failed
  stop_run,  ///< a user's command: the data of this run end, and the program waits for the next
  next_run,  ///< likewise, and the next run begins where this one ends
};

struct Request {
  Command command = Command::none;
  Cause cause = Cause::command;
  std::uint8_t signal = 0;  ///< signal number, if the cause is a signal
  std::array<std::uint8_t, 5> reserved{};
  std::uint64_t speed_millionths = 0;  ///< relative to the recorded speed; 0: as fast as possible
};
static_assert(sizeof(Request) == 16 && std::has_unique_object_representations_v<Request>);

/// A rank's own status, sent to rank 0 once a round.
struct RankStatus {
  std::uint64_t begun_end = 0;    ///< one past the highest slice that its sources have begun to send
  std::uint64_t progress = 0;     ///< increases whenever anything progresses on the rank
  Epoch live_epoch = 0;           ///< its foremost live source has delivered all data before this epoch
  Epoch live_end = 0;             ///< one past the last epoch that any of its live sources has seen
  std::uint64_t safe_end = 0;     ///< the slices before it are on disk, to its knowledge
  LiveVotes live_votes = {};      ///< positions of its live sources
  Request request = {};           ///< its request to all ranks; each request is sent in one round
  std::uint8_t done = 0;          ///< all its roles have finished their work
  std::uint8_t failed = 0;        ///< it met an error that ends the run
  std::uint8_t frozen = 0;        ///< its sources begin no slice until they receive the limit, or continue
  std::uint8_t keeps_a_pace = 0;  ///< its sources sometimes wait for their send time
  std::uint8_t live_full = 0;     ///< one of its live sources delivers faster than the run takes its data
  std::array<std::uint8_t, 3> reserved{};
};
static_assert(sizeof(RankStatus) == 344 && std::has_unique_object_representations_v<RankStatus>);

/// Result of a round: the same on every rank, and binding for all.
struct Verdict {
  std::uint64_t begun_end = 0;  ///< maximum over the ranks
  std::uint64_t progress = 0;   ///< sum over the ranks
  Epoch live_epoch = 0;         ///< maximum over the ranks
  Epoch live_end = 0;           ///< maximum over the ranks
  std::uint64_t safe_end = 0;   ///< maximum over the ranks
  Epoch live_jump = 0;          ///< epoch to which most live sources have jumped; 0: they have not
  Request request = {};         ///< see Command; taken from the lowest rank that made it
  std::int32_t asked_by = -1;   ///< that rank
  std::uint8_t all_done = 0;
  std::uint8_t any_failed = 0;
  std::uint8_t all_frozen = 0;
  std::uint8_t keeps_a_pace = 0;  ///< on any rank
  std::uint8_t live_full = 0;     ///< on any rank
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(Verdict) == 80 && std::has_unique_object_representations_v<Verdict>);

/// Message from rank 0: the result of a round, or why it has not ended.
struct HeartbeatNote {
  enum Kind : std::uint32_t {
    kVerdict,  ///< `verdict` is valid
    kWaiting,  ///< rank 0 waits for rank `waited_for`
    kEnding,   ///< the program is about to end
  };
  std::uint32_t kind = kVerdict;
  std::int32_t waited_for = -1;
  Verdict verdict{};
};
static_assert(sizeof(HeartbeatNote) == 88 && std::has_unique_object_representations_v<HeartbeatNote>);

/// T = (t - t0) * coef + shift (DABC report, 9.3.6): t is the local time, T the master's, both in ns.
struct ClockModel {
  std::int64_t t0 = 0;
  double coef = 1;
  std::int64_t shift = 0;
};
static_assert(sizeof(ClockModel) == 24 && std::is_trivially_copyable_v<ClockModel>);

struct ClockQuality {
  double offset_ns = 0;           ///< master minus local, at the model's t0
  double rate_ppm = 0;            ///< how much faster the master's clock runs
  double residual_ns = 0;         ///< weighted rms distance of the batches from the line
  double precision_ns = 0;        ///< maximum error of a time that the model gives
  double rate_error_ppm = 0;      ///< rate at which the precision degrades: 1 ppm is 1 ns per ms
  std::uint64_t round_trips = 0;  ///< all round trips made, used or not
};
static_assert(sizeof(ClockQuality) == 48 && std::is_trivially_copyable_v<ClockQuality>);

/// Worst values of all ranks: the precision holds until `until` on rank 0's clock, then degrades.
struct ClockBound {
  double precision_ns = 0;
  double rate_error_ppm = 0;
  std::int64_t until = 0;
};
static_assert(sizeof(ClockBound) == 24 && std::is_trivially_copyable_v<ClockBound>);

/// Requests and answers have the same size, so that both directions take equally long.
struct ClockMessage {
  enum Kind : std::uint32_t {
    kAsk,     ///< rank 0 asks for the time
    kAnswer,  ///< immediate answer to rank 0: `time`
    kModel,   ///< rank 0 sends `model`, its `quality`, and the `worst` of all ranks
    kDone,    ///< rank 0 sends its last message, or states that all ranks have been measured
  };
  std::uint32_t kind = kAsk;
  std::uint32_t reserved = 0;
  std::int64_t time = 0;  ///< the sender's clock, ns
  ClockModel model{};
  ClockQuality quality{};
  ClockBound worst{};
};
static_assert(sizeof(ClockMessage) == 112 && std::is_trivially_copyable_v<ClockMessage>);

/// If builders claim their slices, notes travel through rings between builders and the assigner. A cell holds one note
/// followed by its CRC32C, 4 bytes. A note is one or more Claims, or one Assignment with its builders. Anything that
/// exceeds a note goes into the next cells, so that rings stay small for any number of builders.
inline constexpr std::uint64_t kMostClaimsInNote = 128;
inline constexpr std::uint64_t kMostSlicesInNote = 1024;

/// Cell size for notes of `bytes`, for RingGeometry.
constexpr std::uint32_t note_cell_bytes(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + sizeof(std::uint32_t) + 63) / 64 * 64);
}

/// A builder's own status, sent to the assigner; numbers count from the start.
struct Claim {
  std::uint64_t claimed = 0;  ///< number of slices claimed
  std::uint64_t built = 0;    ///< number of these that are finished, counted from the first without a break
  std::uint32_t builder = 0;
  std::uint16_t finished = 0;  ///< it claims no more slices
  std::uint16_t reserved = 0;
  std::uint64_t gap_begin = 0;  ///< first slice for which no source has data
  std::uint64_t gap_end = 0;    ///< one past the last such slice
};
static_assert(sizeof(Claim) == 40 && std::has_unique_object_representations_v<Claim>);

/// Message from the assigner: the builders of the next slices.
struct Assignment {
  std::uint64_t first_slice = 0;  ///< slices between the last assigned one and this one have no builder
  std::uint32_t n = 0;            ///< number of slices; their builders follow, 4 bytes each
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Assignment) == 16 && std::has_unique_object_representations_v<Assignment>);

}  // namespace eventloom
