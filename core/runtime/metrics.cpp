#include "core/runtime/metrics.hpp"

#include <algorithm>
#include <type_traits>

namespace eventloom {

namespace metrics_table {

using enum Metric;
using enum Adding;
constexpr bool kTrouble = true;
constexpr bool kQuiet = false;

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
    {anomalies, "anomalies", "places", "damage of the input that cost no hits, or nobody knows how many", kTrouble},
    {dropped_hits(DropCause::corrupt), "hits_dropped_corrupt", "hits", "hits dropped: not as their format demands",
     kTrouble},
    {dropped_hits(DropCause::duplicate), "hits_dropped_duplicate", "hits", "hits dropped: they had come before",
     kTrouble},
    {dropped_hits(DropCause::out_of_order), "hits_dropped_out_of_order", "hits",
     "hits dropped: in a buffer behind later ones", kTrouble},
    {dropped_hits(DropCause::repeated_incomplete), "hits_dropped_repeated_incomplete", "hits",
     "hits dropped: in an unfinished first copy", kTrouble},
    {dropped_hits(DropCause::out_of_step), "hits_dropped_out_of_step", "hits",
     "hits dropped: number or time does not fit its neighbours", kTrouble},
    {dropped_hits(DropCause::untimed), "hits_dropped_untimed", "hits",
     "hits dropped: without the time stamp that was asked for", kTrouble},
    {dropped_hits(DropCause::lost), "hits_dropped_lost", "hits", "hits dropped: lost on the way from a live source",
     kTrouble},
    {dropped_hits(DropCause::late), "hits_dropped_late", "hits", "hits dropped: their slice had been closed", kTrouble},
    {dropped_hits(DropCause::congested), "hits_dropped_congested", "hits", "hits dropped: the run could not take them",
     kTrouble},

    {messages, "messages", "messages", "messages sent to builders, ends and gaps not counted"},
    {message_bytes, "message_bytes", "bytes", "bodies of the messages"},
    {cells, "cells", "cells", "cells written to rings"},
    {cell_bytes, "cell_bytes", "bytes", "contents of the cells, headers and padding included"},
    {notifications, "notifications", "notifications", "notifications: a flush and one or two puts each"},
    {late_transfers, "late_transfers", "transfers", "transfers begun more than a slot after their start"},
    {hits_read, "hits_read", "hits", "hits that the sources read, or know to be lost"},
    {peak_rss_bytes, "peak_rss_bytes", "bytes", "peak resident memory of a rank, the largest", kQuiet, max},

    {first_number, "first_number", "", "first event number", kQuiet, min},
    {last_number, "last_number", "", "last event number, unwrapped", kQuiet, max},
    {missing_numbers, "missing_numbers", "events", "event numbers left out", kTrouble},
    {duplicate_numbers, "duplicate_numbers", "events", "events left out: their number was there before", kTrouble},
    {repeated_incomplete, "repeated_incomplete", "events", "events left out: unfinished first copies of the next",
     kTrouble},
    {out_of_step, "out_of_step", "events", "events left out: number or time does not fit its neighbours", kTrouble},
    {eras, "eras", "eras", "runs of event numbers, where the server began anew", kTrouble},
    {era_offset, "era_offset", "", "what is added to the event numbers of the last era", kTrouble, max},
    {source_events, "events", "events", "events in the input, used or not"},
    {empty_events, "empty_events", "events", "events without subevents"},
    {run_events, "run_events", "events", "events that mark the begin or the end of a run"},
    {events_with_error_bit, "events_with_error_bit", "events", "events whose error bit is set"},
    {untimed_events, "untimed_events", "events", "events left out: without the time stamp that was asked for",
     kTrouble},
    {repeated_events, "repeated_events", "events", "events left out: they came before the connection was lost"},
    {subevents, "subevents", "subevents", "subevents in the input"},
    {subevents_with_error_bit, "subevents_with_error_bit", "subevents", "subevents whose error bit is set"},
    {padded_subevents, "padded_subevents", "subevents", "subevents that end between multiples of 8 bytes"},
    {folded_ids, "folded_ids", "subevents", "subevents whose control or crate is above 63"},
    {tdc_hits, "tdc_hits", "hits", "time words of TDCs"},
    {tdc_unknown_words, "tdc_unknown_words", "words", "words of TDCs that are of no known kind"},
    {skipped_elements, "skipped_elements", "elements", "elements of other types than events"},
    {buffers, "buffers", "buffers", "buffers of an LMD stream; of a board: epoch buffers handed over"},
    {buffers_continued, "buffers_continued", "buffers", "buffers that begin with the rest of an event"},
    {missing_buffers, "missing_buffers", "buffers", "buffers left out, by their numbers"},
    {skipped_fragments, "skipped_fragments", "fragments", "rests of events whose beginning is not there"},
    {records, "records", "records", "records read"},
    {bad_records, "bad_records", "records", "records that make no hit"},
    {packets, "packets", "packets", "packets read"},
    {damaged_packets, "damaged_packets", "packets", "packets whose contents are damaged"},
    {damaged_headers, "damaged_headers", "packets", "packets whose header is damaged"},
    {sequence_gaps, "sequence_gaps", "gaps", "places where packet numbers are missing"},
    {missing_packets, "missing_packets", "packets", "packet numbers left out"},
    {duplicate_packets, "duplicate_packets", "packets", "packets whose number was there before"},
    {late_packets, "late_packets", "packets", "packets behind later ones"},

    {mbs_buffers, "mbs_buffers", "buffers", "buffers received from a server"},
    {mbs_empty_buffers, "mbs_empty_buffers", "buffers", "those of them without data"},
    {mbs_bytes, "mbs_bytes", "bytes", "bytes received from a server"},
    {connections_lost, "connections_lost", "connections", "connections to a server that were lost"},
    {reconnects, "reconnects", "connections", "connections to a server that followed a lost one", kTrouble},
    {datagrams, "datagrams", "datagrams", "datagrams received from a board"},
    {bytes, "bytes", "bytes", "bytes of the datagrams"},
    {hits, "hits", "hits", "hits of a board that were handed over"},
    {duplicates, "duplicates", "datagrams", "datagrams received before"},
    {reordered, "reordered", "datagrams", "datagrams received behind later ones"},
    {lost_buffers, "lost_buffers", "buffers", "epoch buffers lost on the way, by their numbers", kTrouble},
    {lost_hits, "lost_hits", "hits", "hits lost on the way, by the board's count"},
    {corrupt_buffers, "corrupt_buffers", "buffers", "epoch buffers left out: damaged"},
    {late_buffers, "late_buffers", "buffers", "epoch buffers left out: behind where the board was"},
    {out_of_step_buffers, "out_of_step_buffers", "buffers", "epoch buffers left out: too far from the last one"},
    {contradictions, "contradictions", "datagrams", "datagrams that others of the board deny"},
    {restarts, "restarts", "sessions", "sessions of the board that followed another"},
    {former_session, "former_session", "datagrams", "datagrams of a session that another has followed"},
    {after_end, "after_end", "datagrams", "datagrams behind the end of the stream", kTrouble},
    {kernel_drops, "kernel_drops", "datagrams", "datagrams of the port that the system had no room for", kTrouble},
    {malformed, "malformed", "datagrams", "datagrams of the port that are damaged or not ours", kTrouble},
    {foreign, "foreign", "datagrams", "datagrams of the port from boards that nobody asked for"},

    {source_hits_in, "hits_in", "hits", "hits of a live source in the run, lost ones included"},
    {hits_before_the_run, "hits_before_the_run", "hits", "hits of a live source from before the run"},
    {hits_after_the_end, "hits_after_the_end", "hits", "hits of a live source from after the end of the run"},
    {hits_not_taken, "hits_not_taken", "hits", "hits that came and that the run did not take"},
    {epochs_given_up, "epochs_given_up", "epochs", "epochs for which the run went on without the source", kTrouble},
    {dead_time_ns, "dead_time_ns", "ns", "time of the epoch buffers that the run could not take", kTrouble},
    {events_lacking, "events_lacking", "events", "events that lack data of the source", kTrouble},
    {source_dropped_hits(DropCause::corrupt), "hits_dropped_corrupt", "hits",
     "hits dropped: not as their format demands", kTrouble},
    {source_dropped_hits(DropCause::duplicate), "hits_dropped_duplicate", "hits", "hits dropped: they had come before"},
    {source_dropped_hits(DropCause::out_of_order), "hits_dropped_out_of_order", "hits",
     "hits dropped: in a buffer behind later ones"},
    {source_dropped_hits(DropCause::repeated_incomplete), "hits_dropped_repeated_incomplete", "hits",
     "hits dropped: in an unfinished first copy"},
    {source_dropped_hits(DropCause::out_of_step), "hits_dropped_out_of_step", "hits",
     "hits dropped: number or time does not fit its neighbours", kTrouble},
    {source_dropped_hits(DropCause::untimed), "hits_dropped_untimed", "hits",
     "hits dropped: without the time stamp that was asked for"},
    {source_dropped_hits(DropCause::lost), "hits_dropped_lost", "hits", "hits dropped: lost on the way", kTrouble},
    {source_dropped_hits(DropCause::late), "hits_dropped_late", "hits", "hits dropped: their slice had been closed",
     kTrouble},
    {source_dropped_hits(DropCause::congested), "hits_dropped_congested", "hits",
     "hits dropped: the run could not take them", kTrouble},
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
  return std::ranges::equal_range(all_metrics(), account, {}, [](const auto& m) { return account_of(m.metric); });
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
      case Adding::sum: mine += theirs; break;
      case Adding::max: mine = std::max(mine, theirs); break;
      case Adding::min:
        if (other.tells(metric.metric)) mine = tells(metric.metric) ? std::min(mine, theirs) : theirs;
    }
  }
  kept_ |= other.kept_;
}

bool Counters::any_trouble() const {
  return std::ranges::any_of(all_metrics(), [this](const auto& m) { return m.trouble && (*this)[m.metric] != 0; });
}

CountsByName Counters::by_name() const {
  CountsByName counts;
  for (const auto& metric : metrics_of(Account::source)) {
    if (tells(metric.metric)) counts.emplace(metric.name, (*this)[metric.metric]);
  }
  return counts;
}

}  // namespace eventloom
