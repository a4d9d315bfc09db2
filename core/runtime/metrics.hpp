#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "formats/event.hpp"
#include "formats/marker_counts.hpp"

namespace eventloom {

/// Every counter of a run. The table in metrics.cpp, in the same order, describes each. A counter of a source that
/// shares its name with one of the run has the prefix source_ here.
// clang-format off
enum class Metric : std::uint8_t {
  // The run: what builders and writers made of the slices,
  slices, events, events_truncated, events_incomplete, hits_in, hits_in_events, hits_outside, hits_rejected,
  hits_written, incomplete_slices, unbalanced_slices, anomalies, hits_dropped,  // and more, by cause
  // contents of the rings,
  messages = hits_dropped + kDropCauses, message_bytes, cells, cell_bytes, notifications,
  // and what the ranks did.
  late_transfers, hits_read, peak_rss_bytes, events_rejected, events_tag_error,
  peaks_left_out, tags_left_out, histograms_left_out, schedules_left_out,  // one per OtherMarker
  // The tap: data sent to its clients.
  tap_clients, tap_connections, tap_refused, tap_events, tap_bytes, tap_events_dropped, tap_buffers_dropped,
  // Replies: datagrams sent to boards.
  reply_events, reply_datagrams, reply_bytes, reply_cut, reply_dropped, reply_refused,
  // Each source: contents of its stream,
  first_number, last_number, missing_numbers, duplicate_numbers, repeated_incomplete, out_of_step, eras, era_offset,
  jumps, step_back_ns, clock_turns,
  source_events, empty_events, run_events, events_with_error_bit, untimed_events, repeated_events,
  subevents, subevents_with_error_bit, padded_subevents, folded_ids, tdc_hits, tdc_unknown_words, skipped_elements,
  buffers, buffers_continued, missing_buffers, skipped_fragments, records, bad_records,
  imprecise_times,
  fake_events, saturated_events, pile_up_events, events_after_loss, board_alarms,
  packets, clock_resets, clock_guesses, damaged_packets, damaged_headers, sequence_gaps, missing_packets, duplicate_packets, late_packets,
  // data received from a server or a board,
  mbs_buffers, mbs_empty_buffers, mbs_bytes, connections_lost, reconnects,
  datagrams, bytes, hits, duplicates, reordered, late_events, repaired_numbers, lost_buffers, lost_hits,
  corrupt_buffers, late_buffers, out_of_step_buffers, contradictions, restarts, former_session, after_end, kernel_drops, malformed, foreign,
  other_boards, hits_of_other_boards, clock_difference_ns, pieces_requested, pieces_recovered,
  // and what became of them.
  source_hits_in, hits_before_the_run, hits_after_the_end, hits_not_taken, unknown_losses, epochs_given_up, dead_time_ns,
  events_lacking, source_peaks_left_out, source_tags_left_out, source_histograms_left_out, source_schedules_left_out,
  source_hits_dropped,  // and more, by cause
};
// clang-format on
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::source_hits_dropped) + kDropCauses;

constexpr std::size_t index_of(Metric metric) { return static_cast<std::size_t>(metric); }
/// Hits of the run that were dropped for `cause`.
constexpr Metric dropped_hits(DropCause cause) {
  return static_cast<Metric>(index_of(Metric::hits_dropped) + static_cast<std::size_t>(cause));
}
/// Hits of a source that were dropped for `cause`.
constexpr Metric source_dropped_hits(DropCause cause) {
  return static_cast<Metric>(index_of(Metric::source_hits_dropped) + static_cast<std::size_t>(cause));
}

/// Markers left out of events, of the run and of a source.
constexpr Metric left_out(OtherMarker marker) {
  return static_cast<Metric>(index_of(Metric::peaks_left_out) + static_cast<std::size_t>(marker));
}
constexpr Metric source_left_out(OtherMarker marker) {
  return static_cast<Metric>(index_of(Metric::source_peaks_left_out) + static_cast<std::size_t>(marker));
}

/// The account that a counter belongs to.
enum class Account : std::uint8_t {
  slices,    ///< sums over slices; each finished part has its own, the attributes of run.h5 are those of the run
  dropped,   ///< likewise: hits that did not reach event building, by cause
  exchange,  ///< traffic of the sources' outboxes
  rank,      ///< other counters of the run
  tap,       ///< likewise, for `run --tap`
  reply,     ///< likewise, for `run --reply`
  source,    ///< counted for each source
};

constexpr Account account_of(Metric metric) {
  if (metric >= Metric::first_number) return Account::source;
  if (metric >= Metric::reply_events) return Account::reply;
  if (metric >= Metric::tap_clients) return Account::tap;
  if (metric >= Metric::late_transfers) return Account::rank;
  if (metric >= Metric::messages) return Account::exchange;
  return metric >= Metric::hits_dropped ? Account::dropped : Account::slices;
}

/// How to combine the values of two ranks, parts or files.
enum class Adding : std::uint8_t {
  sum,
  level,  ///< a sum of values that can also decrease
  max,
  min,
};

struct MetricInfo {
  Metric metric;
  /// Name in reports and files; unique among those of a source, and among the others. With the prefix `eventloom_` or
  /// `eventloom_source_` it is a name for Prometheus.
  std::string_view name;
  std::string_view unit;  ///< plural; empty if the value is not a quantity
  std::string_view help;  ///< one line for the user
  /// A nonzero value means that data are lost, damaged or incomplete. The run then ends with kExitLosses; a source's
  /// counter is reported in the summary.
  bool trouble = false;
  Adding adding = Adding::sum;
};

/// All counters, indexed by Metric.
std::span<const MetricInfo, kMetrics> all_metrics();
std::span<const MetricInfo> metrics_of(Account account);
inline const MetricInfo& info(Metric metric) { return all_metrics()[index_of(metric)]; }

using CountsByName = std::map<std::string, std::uint64_t>;

/// A value for each counter, initially 0. Plain bytes, which ranks can send each other. Not thread-safe.
class Counters {
 public:
  struct Value {
    // NOLINTNEXTLINE(google-explicit-constructor): a counter alone is one of value 0
    constexpr Value(Metric m, std::uint64_t value = 0) : metric(m), n(value) {}
    Metric metric;
    std::uint64_t n;
  };
  Counters() = default;
  /// Keeps these counters: see keep().
  Counters(std::initializer_list<Value> values) { keep(values); }

  [[nodiscard]] std::uint64_t& operator[](Metric metric) { return n_[index_of(metric)]; }
  [[nodiscard]] std::uint64_t operator[](Metric metric) const { return n_[index_of(metric)]; }

  /// Adds to these counters. They are reported even while 0, the others only when nonzero.
  void keep(std::initializer_list<Value> values);
  [[nodiscard]] bool keeps(Metric metric) const { return kept_[index_of(metric)]; }
  [[nodiscard]] bool reports(Metric metric) const { return keeps(metric) || (*this)[metric] != 0; }

  /// Combines each counter according to its Adding; counters kept by `other` are kept.
  void add(const Counters& other);
  /// Returns what was counted after `before`, an earlier state: differences of sums. A maximum or minimum stays.
  [[nodiscard]] Counters since(const Counters& before) const;
  /// Whether any counter marked as trouble is nonzero.
  [[nodiscard]] bool any_trouble() const;
  /// The reported counters of a source.
  [[nodiscard]] CountsByName by_name() const;
  /// Puts these counters into a JSON object, reported or not.
  template <class Json>
  void put_into(Json& json, std::initializer_list<Metric> metrics) const {
    for (const auto metric : metrics) json[info(metric).name] = (*this)[metric];
  }
  template <class Json>
  void put_into(Json& json, Account account) const {
    for (const auto& metric : metrics_of(account)) json[metric.name] = (*this)[metric.metric];
  }

  friend bool operator==(const Counters&, const Counters&) = default;

 private:
  std::array<std::uint64_t, kMetrics> n_{};
  std::bitset<kMetrics> kept_;
};

/// Adds `counts` to the counters of the run, or of a source.
void add_other_markers(Counters& run, const MarkerCounts& counts);
void add_other_markers_of_source(Counters& source, const MarkerCounts& counts);
MarkerCounts other_markers(const Counters& run);
MarkerCounts other_markers_of_source(const Counters& source);

/// Hits dropped for any cause that the user did not request, from the counters of the run or of a source.
std::uint64_t hits_lost(const Counters& run);
std::uint64_t hits_lost_of_source(const Counters& source);

}  // namespace eventloom
