#include "app/view/report/run_summary.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/run_format/layout.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kSeriesBins = 200;
constexpr std::size_t kLargest = 8;
constexpr std::uint64_t kAtEqualDistances = 8;

Tick slice_ticks(const RunRecord& record) { return Tick(record.epochs_per_slice * record.base.epoch_ticks); }

DataSeries empty_series(const RunTables& run) {
  DataSeries series;
  bool any = false;
  std::uint64_t last = 0;
  for (const auto& part : run.parts) {
    if (part.slices == 0) continue;
    series.first_slice = any ? std::min(series.first_slice, part.first_slice) : part.first_slice;
    last = std::max(last, part.last_slice);
    any = true;
  }
  if (!any) return series;
  if (last < series.first_slice)
    throw UserError("the slices of the ledger in '" + run.folder.string() + "' do not rise");
  series.slices = last - series.first_slice + 1;
  series.slices_per_bin = (series.slices - 1) / kSeriesBins + 1;
  series.hits_in.resize(series.bin_of(last) + 1);
  series.events.resize(series.hits_in.size());
  return series;
}

void count(DataSeries& series, std::vector<std::uint64_t>& bins, std::uint64_t slice, std::uint64_t n) {
  if (slice < series.first_slice || series.bin_of(slice) >= bins.size()) {
    throw UserError("slice " + std::to_string(slice) + " is outside the range of the ledger: the file is damaged");
  }
  bins[series.bin_of(slice)] += n;
}

void count_missing(const LedgerEntry& entry, std::vector<std::uint64_t>& of_sources) {
  const auto add = [&](std::size_t source) {
    if (source < of_sources.size()) ++of_sources[source];
  };
  for (const auto source : entry.sources_missing) add(source);
  if (!entry.sources_missing.empty()) return;
  for (std::size_t source = 0; source < kMaskedSources; ++source) {
    if ((entry.missing_mask >> source & 1U) != 0) add(source);
  }
}

void read_ledger_rows(const RunTables& run, RunSummary& summary) {
  summary.slices_missing.resize(run.record.sources.size());
  std::uint64_t expected = summary.series.first_slice;
  scan_ledger(run, [&](const LedgerEntry& entry) {
    if (entry.row.hits_in != 0) {
      if (entry.row.slice != expected) summary.after_gaps.push_back(entry.row.slice);
      expected = entry.row.slice + 1;
    }
    summary.totals.add(entry.row, entry.missing_mask != 0);
    count(summary.series, summary.series.hits_in, entry.row.slice, entry.row.hits_in);
    auto& builder = summary.builders[entry.row.builder];
    ++builder.slices;
    builder.hits += entry.row.hits_in;
    count_missing(entry, summary.slices_missing);
  });
}

/// The largest events so far; among equal ones, the earlier.
class Largest {
 public:
  void offer(std::uint64_t hits, std::uint64_t number, const EventPlace& place) {
    if (found_.size() == kLargest && found_.rbegin()->first.first > ~hits) {
      found_.erase(std::prev(found_.end()));
    } else if (found_.size() == kLargest) {
      return;
    }
    found_.emplace(std::pair(~hits, number), place);
  }
  [[nodiscard]] const auto& found() const { return found_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, EventPlace> found_;  ///< ordered by descending hits, then number
};

/// Takes the events in time order.
class EventPass {
 public:
  EventPass(const RunTables& run, RunSummary& summary)
      : summary_(&summary),
        slice_ticks_(slice_ticks(run.record)),
        share_times_(events_share_times(run.record)),
        distance_((run.events() + kAtEqualDistances - 1) / kAtEqualDistances) {}

  void add(const EventRows& rows) {
    for (std::size_t i = 0; i < rows.time.size(); ++i, ++number_) {
      const EventPlace place{rows.first.part, rows.first.row + i};
      add_one(rows.time[i], rows.duration[i], rows.n_hits[i]);
      if (rows.flags[i] != 0 || rows.sources_missing[i] != 0) {
        summary_->totals.add_event(rows.flags[i], rows.sources_missing[i]);
      }
      largest_.offer(rows.n_hits[i], number_, place);
      if (number_ % distance_ == distance_ / 2) chosen_.emplace(number_, place);
    }
  }

  void finish() {
    for (const auto& [key, place] : largest_.found()) chosen_.emplace(key.second, place);
    for (const auto& [number, place] : chosen_) summary_->chosen.push_back(place);
    summary_->totals[Metric::events] = number_;
    if (number_ > 1) summary_->least_pause = least_pause_;
  }

 private:
  void add_one(Tick time, Tick duration, std::uint32_t hits) {
    summary_->multiplicity.add(hits);
    summary_->duration.add(duration.value);
    if (number_ > 0 && (time < last_ || (time == last_ && !share_times_)))
      throw UserError("the events are not in the order of time: the file is damaged");
    const bool gap = pass_gaps(time / slice_ticks_);
    if (number_ > 0) add_interval(time - last_, gap);
    if (number_ > 0) least_pause_ = std::min(least_pause_, time - std::min(time, last_ + last_duration_));
    last_ = time;
    last_duration_ = duration;
    summary_->totals[Metric::hits_written] += hits;
    count(summary_->series, summary_->series.events, time / slice_ticks_, 1);
  }

  void add_interval(Tick interval, bool gap) {
    summary_->interval.add(interval.value);
    if (gap) return;
    summary_->unbroken.add(interval.value);
  }

  /// Whether there are slices without hits between the last event and `slice`.
  bool pass_gaps(std::uint64_t slice) {
    const auto before = gap_;
    while (gap_ < summary_->after_gaps.size() && summary_->after_gaps[gap_] <= slice) ++gap_;
    return gap_ != before;
  }

  RunSummary* summary_;
  std::size_t gap_ = 0;  ///< index into after_gaps: the first one beyond the last event
  Tick slice_ticks_;
  bool share_times_;  ///< events may begin at the same tick
  std::uint64_t distance_;
  std::uint64_t number_ = 0;  ///< number of the next event
  Tick last_ = 0;
  Tick last_duration_ = 0;
  Tick least_pause_ = std::numeric_limits<Tick>::max();
  Largest largest_;
  std::map<std::uint64_t, EventPlace> chosen_;  ///< key: number of the event
};

void read_hits(const RunTables& run, RunSummary& summary) {
  summary.known = KnownChannels(run.record.detector);
  GroupCounts groups(summary.known);
  const bool grouped = !summary.known.groups().empty();
  scan_hits(run, [&](const HitRows& rows) {
    summary.hits.add(rows.source, rows.channel);
    if (grouped) groups.add(rows.source, rows.channel);
  });
  summary.groups = groups.hits();
}

}  // namespace

double slice_seconds(const RunRecord& record) {
  return static_cast<double>(slice_ticks(record)) * static_cast<double>(record.base.tick_ps) * 1e-12;
}

RunSummary summarise_run(const RunTables& run) {
  if (slice_ticks(run.record) == 0) throw UserError("'" + run.folder.string() + "': a slice has no length: damaged");
  RunSummary summary;
  summary.series = empty_series(run);
  read_ledger_rows(run, summary);
  EventPass pass(run, summary);
  scan_events(run, [&](const EventRows& rows) {
    pass.add(rows);
    return true;
  });
  pass.finish();
  read_hits(run, summary);
  summary.totals[Metric::anomalies] = run.record.totals[Metric::anomalies];
  return summary;
}

}  // namespace eventloom
