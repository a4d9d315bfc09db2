#include "io/run_input/account_check.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/crc32c.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/ledger_reader.hpp"

namespace eventloom {

namespace {

/// Reads events, hits and ledger of a file side by side.
class SideBySide {
 public:
  explicit SideBySide(const OpenOutput& open)
      : name_(open.name),
        slices_(open),
        first_hit_(open.column(first_hit_column())),
        times_(open.column(hit_columns()[kHitTime])),
        events_(open.columns_of(event_columns(), open.rows(event_columns()[kEventTime]))) {}

  void check() {
    expect(first_hit_.next<std::uint64_t>() == 0, "/events/first_hit does not begin with 0");
    for (row_ = 0; events_[kEventTime].rows_left() > 0; ++row_) check_event();
    expect(times_.rows_left() == 0, "/hits/time has hits that belong to no event");
    while (next_slice()) continue;
  }

 private:
  void check_event() {
    const auto time = events_[kEventTime].next<Tick>();
    const auto duration = events_[kEventDuration].next<Tick>();
    const auto n_hits = events_[kEventHits].next<std::uint32_t>();
    const auto slice = events_[kEventSlice].next<std::uint64_t>();
    expect(time >= last_time_, "/events/time does not rise");
    last_time_ = time;
    end_ += n_hits;
    expect(n_hits > 0 && first_hit_.next<std::uint64_t>() == end_, "/events/first_hit and /events/n_hits disagree");
    expect(n_hits <= times_.rows_left(), "/events/n_hits counts more hits than /hits/time has");
    const auto first = times_.next<Tick>();
    auto last = first;
    if (n_hits > 1) {
      times_.skip(n_hits - 2);
      last = times_.next<Tick>();
    }
    expect(first == time, "/events/time is not the time of its first hit in /hits/time");
    expect(last - first == duration, "/events/duration is not the time from its first to its last hit in /hits/time");
    while (!has_slice_ || entry_.row.slice < slice) {
      if (!next_slice()) break;
    }
    expect(has_slice_ && entry_.row.slice == slice, "/events/slice is not in /ledger/slice");
  }

  bool next_slice() {
    const auto last = entry_.row.slice;
    if (!slices_.read(entry_)) return false;
    if (has_slice_ && entry_.row.slice <= last) {
      throw UserError(fmt::format("'{}' is damaged: /ledger/slice does not rise after {}", name_, last));
    }
    has_slice_ = true;
    expect_balance(entry_, "'" + name_ + "'");
    return true;
  }

  void expect(bool holds, const char* otherwise) const {
    if (!holds) throw UserError(fmt::format("'{}' is damaged: row {} of /events: {}", name_, row_, otherwise));
  }

  const std::string& name_;
  LedgerReader slices_;
  ColumnCursor first_hit_;
  ColumnCursor times_;
  std::vector<ColumnCursor> events_;
  LedgerEntry entry_;
  bool has_slice_ = false;
  std::uint64_t row_ = 0;
  std::uint64_t end_ = 0;  ///< first hit of the next event
  Tick last_time_ = 0;
};

/// True when each hit of an event is counted in its slice.
bool is_whole(const RunRecord& record) {
  const auto& totals = record.totals;
  return record.closed && totals.dropped() == 0 && totals[Metric::incomplete_slices] == 0 &&
         totals[Metric::events_truncated] == 0;
}

std::uint32_t with_pair(std::uint32_t sum, std::uint64_t slice, std::uint64_t hits) {
  const std::array pair = {slice, hits};
  return crc32_of_zlib(std::as_bytes(std::span(pair)), sum);
}

}  // namespace

void check_account(const OpenOutput& open) { SideBySide(open).check(); }

void expect_balance(const LedgerEntry& entry, const std::string& place) {
  const auto& row = entry.row;
  if (row.balances()) return;
  throw UserError(fmt::format(
      "{} is damaged: /ledger does not balance in slice {}: hits_in is {}, but hits_in_events, hits_outside, "
      "hits_rejected and hits_dropped_* are {} together",
      place, row.slice, row.hits_in, row.hits_in_events + row.hits_outside + row.hits_rejected + row.dropped()));
}

void expect_totals(const RunTotals& stated, const RunTotals& found, const std::string& place) {
  const auto expect = [&](const MetricInfo& info) {
    if (stated[info.metric] == found[info.metric]) return;
    throw UserError(fmt::format("{}: {} is {}, but its ledger has {}: it is damaged", place, info.name,
                                stated[info.metric], found[info.metric]));
  };
  constexpr std::array kSums = {Metric::slices, Metric::hits_in, Metric::hits_in_events, Metric::hits_outside,
                                Metric::hits_rejected};
  for (const auto metric : kSums) expect(info(metric));
  std::ranges::for_each(metrics_of(Account::dropped), expect);
}

SliceHits::SliceHits(const RunRecord& record)
    : compares_(is_whole(record)), slice_ticks_(record.epochs_per_slice * record.base.epoch_ticks) {
  if (slice_ticks_ == 0) compares_ = false;
}

void SliceHits::add_hits(std::span<const Tick> times) {
  if (!compares_) return;
  for (const auto time : times) {
    if (time - begin_ >= slice_ticks_) {
      end_stretch();
      begin_ = time - time % slice_ticks_;
    }
    ++stretch_;
  }
}

void SliceHits::end_stretch() {
  if (stretch_ > 0) open_[begin_ / slice_ticks_] += stretch_;
  stretch_ = 0;
}

void SliceHits::pass(Tick time) {
  if (!compares_ || time - begin_ < slice_ticks_) return;
  end_stretch();
  close_before(time / slice_ticks_);
}

void SliceHits::close_before(std::uint64_t slice) {
  while (!open_.empty() && open_.begin()->first < slice) {
    of_hits_ = with_pair(of_hits_, open_.begin()->first, open_.begin()->second);
    open_.erase(open_.begin());
  }
}

void SliceHits::add_row(const LedgerRow& row) {
  if (row.hits_in_events > 0) of_rows_ = with_pair(of_rows_, row.slice, row.hits_in_events);
}

void SliceHits::check(const std::string& place) {
  if (!compares_) return;
  end_stretch();
  close_before(std::numeric_limits<std::uint64_t>::max());
  if (of_hits_ == of_rows_) return;
  throw UserError(place +
                  ": /ledger/hits_in_events is not the number of hits in events, slice by slice: a part is damaged");
}

RunTotals merge_checked_ledgers(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                                const RunTotals& totals, const std::function<void(const LedgerEntry&)>& take) {
  const bool balances = totals[Metric::unbalanced_slices] == 0;
  RunTotals sums;
  merge_ledgers(folder, parts, [&](const LedgerEntry& entry) {
    if (balances) expect_balance(entry, "'" + entry.file + "'");
    sums.add(entry.row, entry.missing_mask != 0);
    take(entry);
  });
  return sums;
}

}  // namespace eventloom
