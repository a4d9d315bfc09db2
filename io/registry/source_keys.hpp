#pragma once

#include <array>
#include <string_view>

namespace eventloom {

/// A key of source URIs.
struct SourceKey {
  std::string_view name;
  std::string_view value;  ///< form of the value after '='; empty: the key takes none; in []: it may be omitted
  std::string_view help;   ///< one line, with the default

  [[nodiscard]] constexpr bool takes_value() const { return !value.empty(); }
  [[nodiscard]] constexpr bool needs_value() const { return takes_value() && value.front() != '['; }
};

// Accepted by every scheme except sorted:.
inline constexpr auto kCommonKeys = std::to_array<SourceKey>({
    {"system", "N", "puts the source's hits into system N, 0 to 63: the top 6 bits of their channels"},
    {"unique", "[yes|no]", "keep one of hits that are equal in time, channel and payload; not for live sources"},
    {"offset", "TIME", "added to all times, to the nearest tick, -5ms too; plain numbers are ticks, or event numbers"},
});

/// Accepted by schemes whose files can be followed.
inline constexpr SourceKey kFollow{"follow", "",
                                   "wait for appended data and for new files of a glob, which are one source"};

/// Accepted by schemes of recordings.
inline constexpr SourceKey kClock{"clock", "NAME",
                                  "of sources that count one clock (those of one URI), whose turns are the same"};

/// Accepted with it by those that `eventloom record` writes.
inline constexpr SourceKey kAcknowledge{"acknowledge", "",
                                        "with follow: the recorder may remove files once their events are on disk"};

// Shared by several schemes.
inline constexpr SourceKey kUnit{"unit", "UNIT",
                                 "of the times: ps, ns, us, ms, s, tick, or a clock's tick: 12.5ns, 25/2ns (ns)"};
inline constexpr SourceKey kChannelUnits{
    "unit", "UNIT",
    "of the times: ps, ns, us, ms, s, tick, or a clock's tick: 12.5ns, 25/2ns (ns); "
    "0-15:10ns,16-31:8ns: by channel"};
inline constexpr SourceKey kDrift{"drift", "PPB", "correction of the clock's rate: -120ppb, 1.5ppm (0)"};
inline constexpr SourceKey kCoarse{"coarse", "COLUMN",
                                   "number of steps to add to the time, as seconds to nanoseconds (none)"};
inline constexpr SourceKey kCoarseUnit{"coarse-unit", "UNIT", "length of a step of coarse=: s, 25ns"};
inline constexpr SourceKey kRound{"round", "down|nearest", "times that are not whole ticks are rounded (refused)"};
inline constexpr SourceKey kReorder{"reorder", "TIME|N",
                                    "how late a hit may come: a time, a number of hits, or both (10ms,1e6)"};
inline constexpr SourceKey kReorderEvents{
    "reorder", "TIME|N", "how late an event may come by its time stamp (10ms,10000); numbers must ascend"};
inline constexpr SourceKey kJumps{"jumps", "new-era|drop", "what to do where times go back by more (refused)"};
inline constexpr SourceKey kClockJumps{"jumps", "unwrap|new-era|drop", kJumps.help};
inline constexpr SourceKey kClockBits{
    "bits", "N|none",
    "width of the counter of the times, which wraps around; 0-15:32,16-31:48: by channel; none: it never does"};
inline constexpr SourceKey kModulus{"modulus", "N", "where that counter starts again, if it is no power of two"};
inline constexpr SourceKey kSkipBad{
    "skip-bad", "yes|no", "count numbers that the counter cannot have as lost hits, instead of ending the run (no)"};
inline constexpr SourceKey kTurns{"turns", "N",
                                  "how often that counter had started again before (0, or as others of its clock)"};
inline constexpr SourceKey kFixedChannel{"fixed-channel", "N", "channel of all hits, if the data have none"};
inline constexpr SourceKey kChannelTable{"channels", "FILE", "a table of names and channels"};
inline constexpr SourceKey kWhere{"where", "COLUMN==VALUE",
                                  "rows that make hits; also with != < <= > or >=, several joined by && (all)"};
inline constexpr SourceKey kMayLack{"optional", "[yes|no]",
                                    "events by number may lack the source, and a run does not wait for it"};
inline constexpr SourceKey kBits{"bits", "N", "width of the event numbers, which wrap around (32)"};
inline constexpr SourceKey kNumberWord{"number", "word:OFFSET[:LOW-HIGH]",
                                       "event number in a word of the data, or some of its bits (that of the header)"};
inline constexpr SourceKey kBadStamps{"bad-stamps", "drop|keep",
                                      "events whose White Rabbit stamp its front end marks as wrong (drop)"};
inline constexpr SourceKey kNumberedTimes{"numbered", "yes|no", "times are event numbers (no)"};
inline constexpr SourceKey kConcat{"concat", "", "the files of a glob, one after the other, are one source"};

inline constexpr auto kLmdKeys = std::to_array<SourceKey>({
    {"time", "tag|wr|word:OFFSET,COUNT", "event number, White Rabbit stamp, or words of the data (tag)"},
    kNumberWord,
    {"bits", "N", "width of the event numbers, or of a counter in words, which wraps around (32); none: it never does"},
    {"wr", "ID", "of the White Rabbit stamp's subsystem (any)"},
    {"from", "CCRRPPPP", "of the subevents with the words: control, crate, procid as hexadecimal digits (any)"},
    kBadStamps,
    kUnit,
    kRound,
    kReorderEvents,
    kClockJumps,
    kModulus,
    kTurns,
    kSkipBad,
    kClock,
    kMayLack,
    kConcat,
});

inline constexpr auto kHldKeys = std::to_array<SourceKey>({
    {"time", "tag|tdc", "event number, or the time of the TDC (tag)"},
    {"tdc", "[ID-ID,...]", "a hit per time of a TRB3 TDC; tdc=0xe000-0xe00f,0xe100: of these alone"},
    kNumberWord,
    {"from", "ID", "of the subevent with the number: hexadecimal digits (any)"},
    kBits,
    {"turns", "N", "how often the TDCs' epoch counter had started again before (0, or as the others)"},
    kUnit,
    kReorderEvents,
    kJumps,
    kClock,
    kMayLack,
    kConcat,
});

inline constexpr auto kSpikesKeys = std::to_array<SourceKey>({
    {"label", "N", "added to the channels (that of the file)"},
    kRound,
    kReorder,
    kClockJumps,
    kClock,
    kClockBits,
    kModulus,
    kTurns,
    kSkipBad,
    kConcat,
});

inline constexpr SourceKey kRecordOverflow{
    "overflow", "FIELD", "records in which it is not 0 mark turns, as many as their time says; or FIELD==VALUE"};

inline constexpr auto kPackedKeys = std::to_array<SourceKey>({
    {"record", "BYTES", "size of a record"},
    {"time", "FIELD",
     "TYPE@OFFSET[:LOW-HIGH][*SCALE]: u64le@0, f64be@0*1e3; u8, u16 to u64, f32, f64 with le or be, i8 to i64 of a "
     "counter; "
     "or HIGH<<BITS|LOW: u32le@4<<24|u24le@0"},
    {"channel", "FIELD", "likewise; bits of a number: u32le@8:0-21; i8, i16 and i32, too"},
    kFixedChannel,
    {"system", "FIELD", "bits 22 to 27 of the channel; a plain number as of every source"},
    {"subsystem", "FIELD", "bits 16 to 21 of the channel"},
    {"payload", "FIELD,...",
     "a word each, two for more than 32 bits; i8, i16 and i32, too; perhaps named, energy:u16le@8"},
    {"channels", "FILE", "a table of channels of more than 28 bits, and the channels that they become"},
    {"where", "FIELD==VALUE", "records that make hits; also with != < <= > or >=, several joined by && (all)"},
    {"skip", "BYTES", "before the first record (0)"},
    kNumberedTimes,
    kChannelUnits,
    kDrift,
    kRound,
    kReorder,
    kClockJumps,
    kClock,
    kClockBits,
    kModulus,
    kRecordOverflow,
    kTurns,
    kSkipBad,
    kConcat,
});

inline constexpr SourceKey kRoundOff{"round", "down|nearest", "of times to ticks (nearest)"};

inline constexpr auto kCompassKeys = std::to_array<SourceKey>({
    {"header", "0xCAEx|old|BOARD;...",
     "the two bytes or the line that the file lacks, or the format before version 2 (that of the file, or of the "
     "other files of the pattern)"},
    {"drop", "none|saturated,pileup", "records that make no hits besides fake ones; none: not even those (fake)"},
    kRoundOff,
    kReorder,
    kClockJumps,
    kClock,
    kClockBits,
    kModulus,
    kTurns,
    kSkipBad,
    kConcat,
});

inline constexpr auto kTpx3Keys = std::to_array<SourceKey>({
    {"turns", "N", "how often the clock had started again before the file (by its global times, or the TDC's; or 0)"},
    kRoundOff,
    {"reorder", "TIME|N", "how late a hit may come: a time, a number of hits, or both (1s,1e6)"},
    kJumps,
    kClock,
    kConcat,
});

inline constexpr auto kMidasKeys = std::to_array<SourceKey>({
    {"event", "ID", "of the events that are read, one source each (that of the first)"},
    {"time", "tag|NAME:OFFSET,COUNT", "event number, or words of a bank; with bank= also a field of its records (tag)"},
    {"bank", "NAME", "of the bank with records of fixed size, each a hit (a hit per bank)"},
    {"record", "BYTES", "size of a record in the bank"},
    {"channel", "FIELD", "of a record, as for packed:, and so are the next six keys"},
    kFixedChannel,
    kPackedKeys[4],
    kPackedKeys[5],
    kPackedKeys[6],
    kPackedKeys[7],
    kPackedKeys[8],
    {"skip", "BYTES", "of the bank, before its first record (0)"},
    kNumberWord,
    {"from", "NAME", "of the bank with the number (any)"},
    {"bits", "N", "width of the event numbers, or of a counter of times, which wraps around (32); none: it never does"},
    kModulus,
    kRecordOverflow,
    kTurns,
    kSkipBad,
    kUnit,
    kDrift,
    kRound,
    kReorderEvents,
    kClockJumps,
    kClock,
    kMayLack,
    kConcat,
});

inline constexpr auto kCsvKeys = std::to_array<SourceKey>({
    {"time", "COLUMN",
     "name of the column, or number from 1; or A-B: steps of coarse-unit= less a fine time (called time, t, timestamp, "
     "timetag or toa)"},
    {"channel", "COLUMN", "likewise (channel, ch, chan, detector or id); words are numbered in their order"},
    kFixedChannel,
    {"payload", "COLUMN,...",
     "likewise, :KIND may follow; empty: none (payload, energy, adc, amplitude, charge, tot, if all is left out)"},
    {"unit", "UNIT",
     "of the times: ps, ns, us, ms, s, tick, or a clock's tick: 12.5ns, 25/2ns (that in the name time_us); "
     "0-15:10ns,16-31:8ns: by channel"},
    kDrift,
    kCoarse,
    kCoarseUnit,
    {"origin", "TIME", "what becomes tick 0: -5ms, or 2026-11-21T10:00:00Z for times in UTC (0)"},
    kChannelTable,
    kWhere,
    {"skip", "N", "lines before the header or the first row (0)"},
    {"skip-bad", "yes|no", "count lines that are not rows as lost hits, instead of ending the run (no)"},
    kNumberedTimes,
    kRound,
    kReorder,
    kClockJumps,
    kClock,
    kClockBits,
    kModulus,
    {"overflow", "COLUMN", "rows in which it is not 0 mark turns, as many as their time says; or COLUMN==VALUE"},
    kTurns,
    kConcat,
});

inline constexpr auto kHdf5Keys = std::to_array<SourceKey>({
    {"group", "PATTERN", "of the groups, /dom_* for example; each is a source (/)"},
    {"time", "DATASET",
     "of each group, or TABLE/FIELD of a compound dataset; or A-B: steps of coarse-unit= less a fine time (time)"},
    {"channel", "DATASET", "likewise (channel)"},
    kFixedChannel,
    {"payload", "DATASET,...", "likewise, :KIND may follow: u32, i32, f32 or f64 (none)"},
    {"unit", "UNIT",
     "of the times: ps, ns, us, ms, s, tick, or a clock's tick: 12.5ns, 25/2ns (that of the attribute units, or in the "
     "name time_us); 0-15:10ns,16-31:8ns: by channel"},
    kDrift,
    kCoarse,
    kCoarseUnit,
    {"origin", "TIME", "what becomes tick 0: -5ms, or 2026-11-21T10:00:00Z for times that count from 1970 (0)"},
    kChannelTable,
    kWhere,
    {"skip-bad", "yes|no", "count rows with bad numbers as lost hits, instead of ending the run (no)"},
    kNumberedTimes,
    kRound,
    kReorder,
    kClockJumps,
    kClock,
    kClockBits,
    kModulus,
    {"overflow", "DATASET", "rows in which it is not 0 mark turns, as many as their time says; or DATASET==VALUE"},
    kTurns,
    kConcat,
});

inline constexpr auto kGeneratorKeys = std::to_array<SourceKey>({
    {"rate", "X", "hits a second"},
    {"channels", "N", "number of channels (1024)"},
    {"seed", "N", "of the random numbers (1)"},
    {"duration", "TIME", "length of the stream (1s)"},
    {"payload", "N", "words of each hit (0)"},
    kReorder,
});

inline constexpr auto kMbsKeys = std::to_array<SourceKey>({
    kLmdKeys[0],
    kLmdKeys[1],
    kBits,
    kLmdKeys[3],
    kLmdKeys[4],
    kBadStamps,
    kUnit,
    kRound,
    {"reorder", "N", "events that one may come late by, by its time stamp (10000); numbers must ascend"},
    kMayLack,
    {"era", "auto|repeat|new", "what numbers that start again after a reconnection are (auto)"},
});

inline constexpr auto kTrbKeys = std::to_array<SourceKey>({
    {"bits", "24|16", "width of the event numbers, which wrap around (24)"},
    kHldKeys[1],
    kMayLack,
});

inline constexpr auto kUdpKeys = std::to_array<SourceKey>({
    {"sources", "N,...", "ids of the boards that send to the port (the first heard)"},
    {"payload", "N", "words of each hit, until a board has described its stream (0)"},
});

}  // namespace eventloom
