#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Every control message of a run, by direction; little-endian, fields as drawn, unused ones zero. Ends of streams,
/// gaps and credits travel with the data: ring_layout.hpp.
///
///   from                 to                          message                    by
///   every rank           rank 0                      RankStatus                 Heartbeat, two-sided
///   every rank           rank 0                      telemetry_wire.hpp         Telemetry, two-sided, once a second
///   rank 0               every rank                  HeartbeatNote              Heartbeat
///   rank 0               every other rank            ClockMessage (not answer)  ClockSync, two-sided
///   every other rank     rank 0                      ClockMessage (answer)      ClockSync
///   ranks with builders  the assigner                Claims                     NoteSender, a ring
///   the assigner         ranks that send to          Assignment, then 4 bytes   NoteSender
///                        builders or build           for each of its builders
namespace eventloom {

/// Where live sources say they are: those in step with the run, and those that have jumped ahead of it, by place.
/// What the ranks say of theirs is added up, see core/control/live_votes.hpp.
struct LiveVotes {
  static constexpr std::size_t kPlaces = 16;
  struct Place {
    std::uint64_t epoch = 0;
    std::uint64_t votes = 0;
  };

  std::uint64_t near = 0;     ///< epochs apart that are the same place; the same on all ranks
  std::uint64_t in_step = 0;  ///< sources
  std::uint64_t others = 0;   ///< that have jumped back, or to places which there was no room for
  std::array<Place, kPlaces> places{};
};
static_assert(sizeof(LiveVotes) == 280 && std::has_unique_object_representations_v<LiveVotes>);

/// What a run can be asked to do, by any of its ranks, at any time, any number of times. Heard in the round in which it
/// is reported, by all ranks alike; of what is asked in one round that counts which stands last here, and the rest is
/// void:
///
///   while the run  | pause             | resume      | stop, end
///   ---------------+-------------------+-------------+--------------------------------------------
///   goes on        | is paused         | nothing     | is brought to its end in good order
///   is paused      | nothing           | goes on     | likewise, without going on
///   ends           | nothing           | nothing     | nothing: the first counts
///
/// One resume undoes any number of pauses, whoever asked for them. Speed and new file are obeyed in a pause as well.
enum class Command : std::uint8_t {
  none,
  pause,     ///< no source begins a slice beyond the highest that any has begun; up to there all is built
  resume,    ///< as before
  speed,     ///< recordings are sent at another speed
  new_file,  ///< each writer finishes the part file that it is writing, and begins another with its next slice
  stop,      ///< the run can be resumed by another
  end,       ///< likewise, but where sources are live: their data end here, and the run is whole
};

/// What has made a rank ask.
enum class Cause : std::uint8_t {
  command,  ///< somebody who steers the run
  signal,
  writer,  ///< it cannot write what it has built
  time,    ///< the time that was asked for is over
};

struct Request {
  Command command = Command::none;
  Cause cause = Cause::command;
  std::uint8_t signal = 0;  ///< its number, where it is the cause
  std::array<std::uint8_t, 5> reserved{};
  std::uint64_t speed_millionths = 0;  ///< of the recorded speed; 0: as fast as possible
};
static_assert(sizeof(Request) == 16 && std::has_unique_object_representations_v<Request>);

/// To rank 0, once a round: what a rank says of itself.
struct RankStatus {
  std::uint64_t begun_end = 0;    ///< one past the highest slice that its sources have begun to send
  std::uint64_t progress = 0;     ///< grows whenever anything moves on the rank
  std::uint64_t live_epoch = 0;   ///< before which all data of one of its live sources have come, of the foremost
  std::uint64_t live_end = 0;     ///< one past the last epoch that any of its live sources has seen
  LiveVotes live_votes = {};      ///< where its live sources are
  Request request = {};           ///< what it asks of all, in one round for each time that it asks
  std::uint8_t done = 0;          ///< none of its roles has anything left to do
  std::uint8_t failed = 0;        ///< met an error that ends the run
  std::uint8_t frozen = 0;        ///< its sources begin no slice until they hear how far to go, or to go on
  std::uint8_t keeps_a_pace = 0;  ///< its sources wait for their time now and then
  std::uint8_t live_full = 0;     ///< a live source of it has come faster than the run takes it
  std::array<std::uint8_t, 3> reserved{};
};
static_assert(sizeof(RankStatus) == 336 && std::has_unique_object_representations_v<RankStatus>);

/// What a round found: the same on every rank, and what they go by.
struct Verdict {
  std::uint64_t begun_end = 0;   ///< the greatest
  std::uint64_t progress = 0;    ///< the sum
  std::uint64_t live_epoch = 0;  ///< the greatest
  std::uint64_t live_end = 0;    ///< the greatest
  std::uint64_t live_jump = 0;   ///< where most live sources have jumped to; 0: they have not
  Request request = {};          ///< see Command; of the lowest rank that asked for it
  std::int32_t asked_by = -1;    ///< this rank
  std::uint8_t all_done = 0;
  std::uint8_t any_failed = 0;
  std::uint8_t all_frozen = 0;
  std::uint8_t keeps_a_pace = 0;  ///< any
  std::uint8_t live_full = 0;     ///< any
  std::array<std::uint8_t, 7> reserved{};
};
static_assert(sizeof(Verdict) == 72 && std::has_unique_object_representations_v<Verdict>);

/// From rank 0: how a round ended, or why it has not.
struct HeartbeatNote {
  enum Kind : std::uint32_t {
    kVerdict,  ///< `verdict` holds
    kWaiting,  ///< for `waited_for`, a rank
    kEnding,   ///< the program is about to end
  };
  std::uint32_t kind = kVerdict;
  std::int32_t waited_for = -1;
  Verdict verdict{};
};
static_assert(sizeof(HeartbeatNote) == 80 && std::has_unique_object_representations_v<HeartbeatNote>);

/// T = (t - t0) * coef + shift (DABC report, 9.3.6): t on the local clock, T on the master's, ns.
struct ClockModel {
  std::int64_t t0 = 0;
  double coef = 1;
  std::int64_t shift = 0;
};
static_assert(sizeof(ClockModel) == 24 && std::is_trivially_copyable_v<ClockModel>);

struct ClockQuality {
  double offset_ns = 0;           ///< master minus local, at the model's t0
  double rate_ppm = 0;            ///< how much faster the master's clock runs
  double residual_ns = 0;         ///< rms distance of the batches from the line, by weight
  double precision_ns = 0;        ///< by no more is a time that the model gives off the true master time
  double rate_error_ppm = 0;      ///< by this the precision gets worse with time: 1 ppm is 1 ns per ms
  std::uint64_t round_trips = 0;  ///< all that were made, used or not
};
static_assert(sizeof(ClockQuality) == 48 && std::is_trivially_copyable_v<ClockQuality>);

/// The worst of all ranks: the precision holds to `until` on rank 0's clock, then gets worse.
struct ClockBound {
  double precision_ns = 0;
  double rate_error_ppm = 0;
  std::int64_t until = 0;
};
static_assert(sizeof(ClockBound) == 24 && std::is_trivially_copyable_v<ClockBound>);

/// Questions and answers are of one size, so that both ways take as long.
struct ClockMessage {
  enum Kind : std::uint32_t {
    kAsk,     ///< from rank 0: what time is it?
    kAnswer,  ///< to rank 0, at once: `time`
    kModel,   ///< from rank 0: `model`, its `quality`, and the `worst` of all ranks
    kDone,    ///< from rank 0: the last message, or that all ranks have been measured
  };
  std::uint32_t kind = kAsk;
  std::uint32_t reserved = 0;
  std::int64_t time = 0;  ///< the sender's clock, ns
  ClockModel model{};
  ClockQuality quality{};
  ClockBound worst{};
};
static_assert(sizeof(ClockMessage) == 112 && std::is_trivially_copyable_v<ClockMessage>);

/// Notes go through rings between builders and the assigner, where builders claim their slices. A cell holds one note
/// followed by its CRC32C, 4 bytes: one or more Claims, or one Assignment with its builders; what is more goes in the
/// next cells, so that rings stay small however many builders there are.
inline constexpr std::uint64_t kMostClaimsInNote = 128;
inline constexpr std::uint64_t kMostSlicesInNote = 1024;

/// Bytes of a cell that holds a note of `bytes`, for RingGeometry.
constexpr std::uint32_t note_cell_bytes(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + sizeof(std::uint32_t) + 63) / 64 * 64);
}

/// To the assigner: what a builder says of itself; the numbers count since the start.
struct Claim {
  std::uint64_t claimed = 0;  ///< slices that it has claimed
  std::uint64_t built = 0;    ///< how many of these are done with, from the first on
  std::uint32_t builder = 0;
  std::uint16_t finished = 0;  ///< it will claim no more
  std::uint16_t reserved = 0;
  std::uint64_t gap_begin = 0;  ///< no source has anything for the slices from here on
  std::uint64_t gap_end = 0;    ///< up to this one
};
static_assert(sizeof(Claim) == 40 && std::has_unique_object_representations_v<Claim>);

/// From the assigner: who gets the next slices.
struct Assignment {
  std::uint64_t first_slice = 0;  ///< nobody gets those between the last that was assigned and this one
  std::uint32_t n = 0;            ///< slices; their builders follow, 4 bytes each
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Assignment) == 16 && std::has_unique_object_representations_v<Assignment>);

}  // namespace eventloom
