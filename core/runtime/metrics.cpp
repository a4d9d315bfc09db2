#include "core/runtime/metrics.hpp"

#include <algorithm>
#include <type_traits>

namespace eventloom {

namespace metrics_table {

using enum Metric;
using enum Adding;
constexpr bool kTrouble = true;
constexpr bool kQuiet = false;

/// Indexed by DropCause: each is a metric of the run, which is trouble unless the user wants it, and one of each
/// source.
struct Dropped {
  std::string_view name;
  std::string_view help;
  bool trouble_of_source = false;
};
constexpr std::array kDropped = std::to_array<Dropped>({
    {"hits_dropped_corrupt", "hits dropped: they violate their format", kTrouble},
    {"hits_dropped_duplicate", "hits dropped: received before"},
    {"hits_dropped_out_of_order", "hits dropped: in a buffer after later ones"},
    {"hits_dropped_repeated_incomplete", "hits dropped: in an unfinished first copy"},
    {"hits_dropped_out_of_step", "hits dropped: number or time does not fit its neighbours", kTrouble},
    {"hits_dropped_untimed", "hits dropped: without the requested time stamp"},
    {"hits_dropped_lost", "hits dropped: lost on the way from a live source", kTrouble},
    {"hits_dropped_late", "hits dropped: their slice was closed", kTrouble},
    {"hits_dropped_congested", "hits dropped: the run was full", kTrouble},
    {"hits_dropped_masked", "hits dropped: their channel is masked"},
    {"hits_dropped_cut", "hits dropped: outside of the cuts on their payload, or rows that where= leaves out"},
    {"hits_dropped_jump", "hits dropped: their time jumps back", kTrouble},
    {"hits_dropped_flagged", "hits dropped: flagged by their digitizer, and left out by the source's keys", kTrouble},
    {"hits_dropped_outside_stretch", "hits dropped: before --from, or not before --to"},
    {"hits_dropped_dead_time", "hits dropped: within the dead time of their channel"},
    {"hits_dropped_copy", "hits dropped: equal to another one of a source with the key unique"},
});

static_assert(std::ranges::equal(kDropped, kDropCauseNames, [](const Dropped& dropped, std::string_view cause) {
  return dropped.name.starts_with("hits_dropped_") && dropped.name.ends_with(cause) &&
         dropped.name.size() == 13 + cause.size();
}));

constexpr const Dropped& dropped(DropCause cause) { return kDropped[static_cast<std::size_t>(cause)]; }
constexpr MetricInfo of_run(DropCause cause) {
  return {dropped_hits(cause), dropped(cause).name, "hits", dropped(cause).help, !wanted(cause)};
}
constexpr MetricInfo of_source(DropCause cause) {
  return {source_dropped_hits(cause), dropped(cause).name, "hits", dropped(cause).help,
          dropped(cause).trouble_of_source};
}

/// Indexed by OtherMarker: each is a metric of the run and one of each source.
struct LeftOut {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};
constexpr std::array kLeftOut = std::to_array<LeftOut>({
    {"peaks_left_out", "peaks", "peaks (P markers) that are not in the output"},
    {"tags_left_out", "tags", "event tags (TG markers) that are not in the output"},
    {"histograms_left_out", "histograms", "histograms (H1 markers) that are not in the output"},
    {"schedules_left_out", "schedules", "schedules (SCH markers) that are not in the output"},
});
static_assert(kLeftOut.size() == kOtherMarkers);

constexpr MetricInfo info_of(Metric metric, OtherMarker marker, bool trouble) {
  const auto& about = kLeftOut[static_cast<std::size_t>(marker)];
  return {metric, about.name, about.unit, about.help, trouble};
}
/// Streams with such markers are valid: a run that has built all of their hits has lost none.
constexpr MetricInfo of_run(OtherMarker marker) { return info_of(left_out(marker), marker, kQuiet); }
constexpr MetricInfo of_source(OtherMarker marker) { return info_of(source_left_out(marker), marker, kTrouble); }

constexpr std::array kTable = std::to_array<MetricInfo>({
    {slices, "slices", "slices", "slices built"},
    {events, "events", "events", "events kept and written"},
    {events_truncated, "events_truncated", "events", "events cut at the overlap", kTrouble},
    {events_incomplete, "events_incomplete", "events", "events that lack data of a source", kTrouble},
    {hits_in, "hits_in", "hits", "hits that reached the builders or were dropped before"},
    {hits_in_events, "hits_in_events", "hits", "hits in events that were kept"},
    {hits_outside, "hits_outside", "hits", "hits that belong to no event"},
    {hits_rejected, "hits_rejected", "hits", "hits in events that a filter rejected"},
    {hits_written, "hits_written", "hits", "hits of the events written"},
    {incomplete_slices, "incomplete_slices", "slices", "slices that lack data of a source", kTrouble},
    {unbalanced_slices, "unbalanced_slices", "slices", "slices whose ledger does not balance: a defect of the program",
     kTrouble},
    {anomalies, "anomalies", "places", "damage of the input that cost no hits, or an unknown number", kTrouble},
    of_run(DropCause::corrupt),
    of_run(DropCause::duplicate),
    of_run(DropCause::out_of_order),
    of_run(DropCause::repeated_incomplete),
    of_run(DropCause::out_of_step),
    of_run(DropCause::untimed),
    of_run(DropCause::lost),
    of_run(DropCause::late),
    of_run(DropCause::congested),
    of_run(DropCause::masked),
    of_run(DropCause::cut),
    of_run(DropCause::jump),
    of_run(DropCause::flagged),
    of_run(DropCause::outside_stretch),
    of_run(DropCause::dead_time),
    of_run(DropCause::copy),

    {messages, "messages", "messages", "messages sent to builders, ends and gaps not counted"},
    {message_bytes, "message_bytes", "bytes",
     "bodies of the messages, including data lent to builders on the same rank"},
    {cells, "cells", "cells", "cells written to rings"},
    {cell_bytes, "cell_bytes", "bytes", "contents of the cells, headers and padding included"},
    {notifications, "notifications", "notifications", "notifications: a flush and one or two puts each"},
    {late_transfers, "late_transfers", "transfers", "transfers begun more than a slot after their start"},
    {hits_read, "hits_read", "hits", "hits that the sources have read or reported as lost"},
    {peak_rss_bytes, "peak_rss_bytes", "bytes", "peak resident memory of a rank, the largest", kQuiet, max},
    {events_rejected, "events_rejected", "events", "events that a filter rejected"},
    {events_tag_error, "events_tag_error", "events", "events on whose tag sources contradicted each other", kTrouble},
    of_run(OtherMarker::peak),
    of_run(OtherMarker::tag),
    of_run(OtherMarker::histogram),
    of_run(OtherMarker::schedule),

    {tap_clients, "tap_clients", "clients", "clients of the tap that are connected", kQuiet, level},
    {tap_connections, "tap_connections", "connections", "connections that clients have made to the tap"},
    {tap_refused, "tap_refused", "connections", "of them refused: too many, or an invalid request"},
    {tap_events, "tap_events", "events", "events sent by the tap, to all clients together"},
    {tap_bytes, "tap_bytes", "bytes", "bytes sent by the tap, to all clients together"},
    {tap_events_dropped, "tap_events_dropped", "events", "events that slow clients of the tap did not get"},
    {tap_buffers_dropped, "tap_buffers_dropped", "buffers", "buffers that slow clients of the tap did not get"},

    {reply_events, "reply_events", "events", "events selected for replies"},
    {reply_datagrams, "reply_datagrams", "datagrams", "replies sent, to all addresses together"},
    {reply_bytes, "reply_bytes", "bytes", "bytes of the replies sent, to all addresses together"},
    {reply_cut, "reply_cut", "events", "events of which only the first hits fit a reply"},
    {reply_dropped, "reply_dropped", "datagrams", "replies not sent: the system had no room for them"},
    {reply_refused, "reply_refused", "errors", "times the system reported that a reply cannot be delivered"},

    {first_number, "first_number", "", "first event number", kQuiet, min},
    {last_number, "last_number", "", "last event number, unwrapped", kQuiet, max},
    {missing_numbers, "missing_numbers", "events", "missing event numbers", kTrouble},
    {duplicate_numbers, "duplicate_numbers", "events", "events dropped: repeated event number", kTrouble},
    {repeated_incomplete, "repeated_incomplete", "events", "events dropped: unfinished first copies of the next",
     kTrouble},
    {out_of_step, "out_of_step", "events", "events dropped: number or time does not fit its neighbours", kTrouble},
    {eras, "eras", "eras", "sequences of event numbers, one for each start of the server", kTrouble},
    {era_offset, "era_offset", "", "offset added to the event numbers of the last era", kTrouble, max},
    {jumps, "jumps", "jumps", "places where times go back by more than ordinary disorder", kTrouble},
    {step_back_ns, "step_back_ns", "ns", "largest step back in time from one hit to a later one", kQuiet, max},
    {clock_turns, "clock_turns", "turns", "times that a counter of limited width has started again"},
    {source_events, "events", "events", "events in the input, used or not"},
    {empty_events, "empty_events", "events", "events without subevents"},
    {run_events, "run_events", "events", "events that mark the beginning or end of a run"},
    {events_with_error_bit, "events_with_error_bit", "events", "events whose error bit is set"},
    {untimed_events, "untimed_events", "events", "events dropped: without the requested time stamp", kTrouble},
    {repeated_events, "repeated_events", "events", "events dropped: received before the connection was lost"},
    {subevents, "subevents", "subevents", "subevents in the input"},
    {subevents_with_error_bit, "subevents_with_error_bit", "subevents", "subevents whose error bit is set"},
    {padded_subevents, "padded_subevents", "subevents", "subevents that end between multiples of 8 bytes"},
    {folded_ids, "folded_ids", "subevents", "subevents whose control or crate is above 63"},
    {tdc_hits, "tdc_hits", "hits", "time words of TDCs"},
    {tdc_unknown_words, "tdc_unknown_words", "words", "words of TDCs of unknown kind"},
    {skipped_elements, "skipped_elements", "elements", "elements of other types than events"},
    {buffers, "buffers", "buffers", "buffers of an LMD stream; of a board: epoch buffers delivered"},
    {buffers_continued, "buffers_continued", "buffers", "buffers that begin with the continuation of an event"},
    {missing_buffers, "missing_buffers", "buffers", "missing buffers, by their numbers"},
    {skipped_fragments, "skipped_fragments", "fragments", "continuations of events whose beginning is missing"},
    {records, "records", "records", "records read"},
    {bad_records, "bad_records", "records", "records that make no hit"},
    {imprecise_times, "imprecise_times", "hits", "hits whose time is a number that cannot tell one tick from the next",
     kTrouble},
    {fake_events, "fake_events", "events", "events that their digitizer marks as fake: no pulse", kTrouble},
    {saturated_events, "saturated_events", "events", "events whose pulse saturated its digitizer", kTrouble},
    {pile_up_events, "pile_up_events", "events", "events that their digitizer marks as pile-up", kTrouble},
    {events_after_loss, "events_after_loss", "events",
     "events before which their digitizer lost others: dead time, memory full, lost triggers", kTrouble},
    {board_alarms, "board_alarms", "events",
     "fake events of a digitizer that has lost its clock's lock, is too hot, or has shut down", kTrouble},
    {packets, "packets", "packets", "packets read"},
    {clock_resets, "clock_resets", "resets", "places where a clock begins again", kTrouble},
    {clock_guesses, "clock_guesses", "pauses", "pauses whose length the clock does not show with certainty", kTrouble},
    {damaged_packets, "damaged_packets", "packets", "packets whose contents are damaged"},
    {damaged_headers, "damaged_headers", "packets", "packets whose header is damaged"},
    {sequence_gaps, "sequence_gaps", "gaps", "places where packet numbers are missing"},
    {missing_packets, "missing_packets", "packets", "missing packet numbers"},
    {duplicate_packets, "duplicate_packets", "packets", "packets with a repeated number"},
    {late_packets, "late_packets", "packets", "packets after later ones"},

    {mbs_buffers, "mbs_buffers", "buffers", "buffers received from a server"},
    {mbs_empty_buffers, "mbs_empty_buffers", "buffers", "buffers without data received from a server"},
    {mbs_bytes, "mbs_bytes", "bytes", "bytes received from a server"},
    {connections_lost, "connections_lost", "connections", "connections to a server that were lost"},
    {reconnects, "reconnects", "connections", "connections to a server that followed a lost one", kTrouble},
    {datagrams, "datagrams", "datagrams", "datagrams received from a board"},
    {bytes, "bytes", "bytes", "bytes of the datagrams"},
    {hits, "hits", "hits", "hits of a board that were delivered"},
    {duplicates, "duplicates", "datagrams", "datagrams received before"},
    {reordered, "reordered", "datagrams", "datagrams received after later ones"},
    {late_events, "late_events", "events", "events dropped: their number had been given up as missing"},
    {repaired_numbers, "repaired_numbers", "events", "events whose number a known flaw of the firmware had changed"},
    {lost_buffers, "lost_buffers", "buffers", "epoch buffers lost on the way, by their numbers", kTrouble},
    {lost_hits, "lost_hits", "hits", "hits lost on the way, by the board's count"},
    {corrupt_buffers, "corrupt_buffers", "buffers", "epoch buffers dropped: damaged"},
    {late_buffers, "late_buffers", "buffers", "epoch buffers dropped: before epochs already delivered"},
    {out_of_step_buffers, "out_of_step_buffers", "buffers", "epoch buffers dropped: too far from the last one"},
    {contradictions, "contradictions", "datagrams", "datagrams that contradict others of the board"},
    {restarts, "restarts", "sessions", "sessions of the board that followed another"},
    {former_session, "former_session", "datagrams", "datagrams of a session that another has followed"},
    {after_end, "after_end", "datagrams", "datagrams after the end of the stream", kTrouble},
    {kernel_drops, "kernel_drops", "datagrams", "datagrams of the port that the system dropped", kTrouble},
    {malformed, "malformed", "datagrams", "datagrams of the port that are damaged or of other framing", kTrouble},
    {foreign, "foreign", "datagrams",
     "datagrams of the port from boards that were not requested, or not from a board's address"},
    {other_boards, "other_boards", "boards", "boards besides the first at a port whose URI names none: not in the run",
     kTrouble},
    {hits_of_other_boards, "hits_of_other_boards", "hits", "hits of those boards, by their own counts"},
    {clock_difference_ns, "clock_difference_ns", "ns", "by which the clocks of a board and of its host differ", kQuiet,
     max},
    {pieces_requested, "pieces_requested", "pieces", "missing pieces that the board was asked to send again"},
    {pieces_recovered, "pieces_recovered", "pieces", "datagrams received after they had been requested again"},

    {source_hits_in, "hits_in", "hits", "hits of a live source in the run, lost ones included"},
    {hits_before_the_run, "hits_before_the_run", "hits", "hits of a live source from before the run"},
    {hits_after_the_end, "hits_after_the_end", "hits", "hits of a live source from after the end of the run"},
    {hits_not_taken, "hits_not_taken", "hits", "hits received and not used by the run"},
    {unknown_losses, "unknown_losses", "places",
     "gaps of unknown size in what the source sent, as while its run or recorder was interrupted", kTrouble},
    {epochs_given_up, "epochs_given_up", "epochs", "epochs built without the source", kTrouble},
    {dead_time_ns, "dead_time_ns", "ns", "time of the epoch buffers dropped because the run was full", kTrouble},
    {events_lacking, "events_lacking", "events", "events that lack data of the source", kTrouble},
    of_source(OtherMarker::peak),
    of_source(OtherMarker::tag),
    of_source(OtherMarker::histogram),
    of_source(OtherMarker::schedule),
    of_source(DropCause::corrupt),
    of_source(DropCause::duplicate),
    of_source(DropCause::out_of_order),
    of_source(DropCause::repeated_incomplete),
    of_source(DropCause::out_of_step),
    of_source(DropCause::untimed),
    of_source(DropCause::lost),
    of_source(DropCause::late),
    of_source(DropCause::congested),
    of_source(DropCause::masked),
    of_source(DropCause::cut),
    of_source(DropCause::jump),
    of_source(DropCause::flagged),
    of_source(DropCause::outside_stretch),
    of_source(DropCause::dead_time),
    of_source(DropCause::copy),
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (index_of(kTable[i].metric) != i) return false;
  }
  return true;
}
static_assert(kTable.size() == kMetrics && in_order(), "a row for each Metric, in their order");

}  // namespace metrics_table

static_assert(std::is_trivially_copyable_v<Counters>);

std::span<const MetricInfo, kMetrics> all_metrics() { return metrics_table::kTable; }

std::span<const MetricInfo> metrics_of(Account account) {
  const auto all = all_metrics();
  // Not ranges::equal_range, whose result clang 14 does not accept as a range.
  const auto begin =
      std::partition_point(all.begin(), all.end(), [&](const auto& m) { return account_of(m.metric) < account; });
  const auto end =
      std::partition_point(begin, all.end(), [&](const auto& m) { return account_of(m.metric) == account; });
  return {begin, end};
}

void Counters::keep(std::initializer_list<Value> values) {
  for (const auto& value : values) {
    (*this)[value.metric] += value.n;
    kept_.set(index_of(value.metric));
  }
}

void Counters::add(const Counters& other) {
  for (const auto& metric : all_metrics()) {
    auto& mine = (*this)[metric.metric];
    const auto theirs = other[metric.metric];
    switch (metric.adding) {
      case Adding::sum:
      case Adding::level: mine += theirs; break;
      case Adding::max: mine = std::max(mine, theirs); break;
      case Adding::min:
        if (other.reports(metric.metric)) mine = reports(metric.metric) ? std::min(mine, theirs) : theirs;
    }
  }
  kept_ |= other.kept_;
}

Counters Counters::since(const Counters& before) const {
  Counters counts = *this;
  for (const auto& metric : all_metrics()) {
    if (metric.adding == Adding::sum) counts[metric.metric] -= before[metric.metric];
  }
  return counts;
}

bool Counters::any_trouble() const {
  return std::ranges::any_of(all_metrics(), [this](const auto& m) { return m.trouble && (*this)[m.metric] != 0; });
}

CountsByName Counters::by_name() const {
  CountsByName counts;
  for (const auto& metric : metrics_of(Account::source)) {
    if (reports(metric.metric)) counts.emplace(metric.name, (*this)[metric.metric]);
  }
  return counts;
}

namespace {

void add_to(Counters& counters, Metric first, const MarkerCounts& counts) {
  std::size_t metric = index_of(first);
  for (const auto n : counts.numbers()) counters[static_cast<Metric>(metric++)] += n;
}

MarkerCounts read_from(const Counters& counters, Metric first) {
  MarkerCounts::Numbers numbers{};
  std::size_t metric = index_of(first);
  for (auto& n : numbers) n = counters[static_cast<Metric>(metric++)];
  return MarkerCounts::of(numbers);
}

}  // namespace

void add_other_markers(Counters& run, const MarkerCounts& counts) { add_to(run, left_out(OtherMarker{}), counts); }
void add_other_markers_of_source(Counters& source, const MarkerCounts& counts) {
  add_to(source, source_left_out(OtherMarker{}), counts);
}
MarkerCounts other_markers(const Counters& run) { return read_from(run, left_out(OtherMarker{})); }
MarkerCounts other_markers_of_source(const Counters& source) {
  return read_from(source, source_left_out(OtherMarker{}));
}

std::uint64_t hits_lost(const Counters& run) {
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto cause = static_cast<DropCause>(i);
    if (!wanted(cause)) hits += run[dropped_hits(cause)];
  }
  return hits;
}

std::uint64_t hits_lost_of_source(const Counters& source) {
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto cause = static_cast<DropCause>(i);
    if (!wanted(cause)) hits += source[source_dropped_hits(cause)];
  }
  return hits;
}

}  // namespace eventloom
