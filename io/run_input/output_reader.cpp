#include "io/run_input/output_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/ledger_reader.hpp"
#include "io/run_input/open_output.hpp"
#include "io/run_input/part_events.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_input/run_histograms.hpp"
#include "io/run_input/verify_columns.hpp"

namespace eventloom {

namespace {

/// Buffer size for reading only some rows of a file.
constexpr std::size_t kFewRows = std::size_t{4} << 10;

RunTotals read_ledger(const OpenOutput& open) {
  LedgerReader reader(open);
  RunTotals sums;
  for (LedgerEntry entry; reader.read(entry);) sums.add(entry.row, entry.missing_mask != 0);
  return sums;
}

/// Checks that events ascend in time and that their hits are contiguous up to the last one.
void check_events(const OpenOutput& open, OutputSummary& summary) {
  auto times = open.column(event_columns()[kEventTime]);
  auto counts = open.column(event_columns()[kEventHits]);
  auto offsets = open.column(first_hit_column());
  if (counts.rows() != times.rows() || offsets.rows() != times.rows() + 1) {
    summary.problems.emplace_back("the columns of /events differ in length");
    return;
  }
  std::optional<Tick> last;
  auto offset = offsets.next<std::uint64_t>();
  for (std::uint64_t i = 0; i < summary.events; ++i) {
    const auto time = times.next<Tick>();
    const auto next = offsets.next<std::uint64_t>();
    if ((last && time <= *last) || next - offset != counts.next<std::uint32_t>()) {
      summary.problems.push_back(
          fmt::format("event {} is out of order or does not have the number of hits it states", i));
      return;
    }
    last = time;
    offset = next;
  }
  if (offset != summary.hits) {
    summary.problems.push_back(fmt::format("the events have {} hits, /hits has {}", offset, summary.hits));
  }
}

void check_payload(const OpenOutput& open, OutputSummary& summary) {
  if (!open.has(payload_column())) return;
  summary.payload_words = open.rows(payload_column());
  auto offsets = open.column(first_payload_column(), kFewRows);
  if (offsets.rows() != summary.hits + 1) {
    summary.problems.emplace_back("/hits/first_payload must have one row more than there are hits");
    return;
  }
  offsets.skip(summary.hits);
  const auto words = offsets.next<std::uint64_t>();
  if (words != summary.payload_words) {
    summary.problems.push_back(
        fmt::format("the hits have {} payload words, /payload has {}", words, summary.payload_words));
  }
}

void read_tables(const OpenOutput& open, OutputSummary& summary) {
  summary.events = open.rows(event_columns()[kEventTime]);
  summary.hits = open.rows(hit_columns()[kHitTime]);
  for (const auto& spec : hit_columns()) {
    if (open.rows(spec) != summary.hits) summary.problems.push_back(spec.path + " differs in length from /hits/time");
  }
  check_events(open, summary);
  check_payload(open, summary);
  try {
    verify_columns(open.name);
  } catch (const UserError& e) {
    summary.problems.emplace_back(e.what());
  }
}

void look_at_part(const std::filesystem::path& path, const PartInfo& part, OutputSummary& summary) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) {
    summary.problems.push_back("part " + part.name + ": " + error.message());
    return;
  }
  try {
    const OpenOutput open(path);
    if (reading(path, [&] { return format_of(open); }) != kPartFormat) {
      throw UserError("part " + part.name + " is not a part of a run");
    }
    const auto events = open.rows(event_columns()[kEventTime]);
    const auto hits = open.rows(hit_columns()[kHitTime]);
    if (open.has(payload_column())) summary.payload_words += open.rows(payload_column());
    const bool as_long = events == part.events && hits == part.hits;
    if (bytes != part.bytes || !as_long) {
      summary.problems.push_back(fmt::format("part {} has {} bytes, {} events, {} hits; the run lists {}, {}, {}",
                                             part.name, bytes, events, hits, part.bytes, part.events, part.hits));
    }
    if (as_long) {
      check_part(open.file.get(), path, part.datasets_sum);
      verify_columns(path);
    }
  } catch (const UserError& e) {
    summary.problems.emplace_back(e.what());
  }
}

/// True when two accounts cover the same slices and the same hits.
bool same_hits(const RunTotals& a, const RunTotals& b) {
  const auto same = [&](Metric metric) { return a[metric] == b[metric]; };
  constexpr std::array kHits = {Metric::slices, Metric::hits_in, Metric::hits_in_events, Metric::hits_outside,
                                Metric::hits_rejected};
  return std::ranges::all_of(kHits, same) &&
         std::ranges::all_of(metrics_of(Account::dropped), same, &MetricInfo::metric);
}

void check_statistics(const std::filesystem::path& path, bool closed, OutputSummary& summary) {
  try {
    summary.alarms = read_statistics(path).alarms;
    if (closed) (void)histograms_of(path);
  } catch (const UserError& e) {
    summary.problems.emplace_back(e.what());
  }
}

void read_run(const std::filesystem::path& path, OutputSummary& summary) {
  auto run = read_run_file(path);
  check_statistics(path, run.record.closed, summary);
  for (const auto& part : run.parts) {
    look_at_part(path.parent_path() / part.name, part, summary);
    summary.events += part.events;
    summary.hits += part.hits;
  }
  if (!run.record.closed) {
    summary.problems.emplace_back("the run is not closed: it is still running or was interrupted");
  } else if (run.record.totals[Metric::events] != summary.events || !same_hits(run.record.totals, summary.ledger)) {
    summary.problems.emplace_back("the totals of the run are not the sums of its ledger and parts");
  }
  summary.sources = std::move(run.record.sources);
  summary.parts = std::move(run.parts);
}

OutputSummary summarise(const std::filesystem::path& path) {
  const OpenOutput open(path);
  OutputSummary summary;
  summary.format = format_of(open);
  for (const auto& name : attribute_names(open.file.get())) {
    summary.attributes.emplace_back(name, read_attribute(open.file.get(), name.c_str()));
  }
  summary.ledger = read_ledger(open);
  if (const auto rows = summary.ledger[Metric::unbalanced_slices]; rows > 0) {
    summary.problems.push_back(fmt::format("{} rows of the ledger do not balance", rows));
  }
  if (summary.format == kRunFormat) {
    read_run(path, summary);
  } else {
    read_tables(open, summary);
  }
  if (summary.format == kMergedFormat) {
    check_statistics(path, false, summary);  // its histograms have been verified
    auto record = read_run_record(path);
    if (!record.missing.empty()) summary.problems.push_back(std::move(record.missing));
    summary.sources = std::move(record.sources);
  }
  return summary;
}

std::vector<OutputEvent> events_of(const std::filesystem::path& path, std::size_t n) {
  if (format_of(OpenOutput(path)) != kRunFormat) return read_event_rows(path, 0, n);
  std::vector<OutputEvent> events;
  for (const auto& part : read_run_file(path).parts) {
    std::ranges::move(read_event_rows(path.parent_path() / part.name, 0, n), std::back_inserter(events));
    std::ranges::sort(events, {}, &OutputEvent::time);
    if (events.size() > n) events.resize(n);
  }
  return events;
}

}  // namespace

OutputSummary read_output(const std::filesystem::path& path) {
  return reading(path, [&] { return summarise(path); });
}

std::vector<OutputEvent> read_events(const std::filesystem::path& path, std::size_t n) {
  return reading(path, [&] { return events_of(path, n); });
}

}  // namespace eventloom
