#include "io/run_input/run_tables.hpp"

#include <algorithm>
#include <memory>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/account_check.hpp"
#include "io/run_input/finished_work.hpp"
#include "io/run_input/ledger_reader.hpp"
#include "io/run_input/part_cursor.hpp"
#include "io/run_input/part_events.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_input/verify_columns.hpp"

namespace eventloom {

namespace {

/// Parts up to this size are checked as a whole before one of their events is shown; this takes about 10 ms.
constexpr std::uintmax_t kReadWhole = std::uintmax_t{64} << 20;

/// Reads the events of one part.
class EventPart {
 public:
  EventPart(const std::filesystem::path& path, std::size_t number, const PartInfo& info)
      : open_(path, info), number_(number), columns_(open_.columns_of(event_columns(), info.events)) {}

  [[nodiscard]] bool done() const { return columns_[kEventTime].rows_left() == 0; }
  Tick key() { return columns_[kEventTime].peek<Tick>().front(); }

  /// Takes the buffered events before `limit`, at least one. Returns what `take` returns.
  bool take_before(Tick limit, const std::function<bool(const EventRows&)>& take) {
    EventRows rows{{number_, columns_[kEventTime].rows() - columns_[kEventTime].rows_left()},
                   columns_[kEventTime].peek<Tick>(),
                   columns_[kEventDuration].peek<Tick>(),
                   columns_[kEventHits].peek<std::uint32_t>(),
                   columns_[kEventMissing].peek<std::uint64_t>(),
                   columns_[kEventFlags].peek<std::uint32_t>()};
    const auto before = std::ranges::lower_bound(rows.time, limit) - rows.time.begin();
    const auto n = std::min({std::max<std::size_t>(static_cast<std::size_t>(before), 1), rows.duration.size(),
                             rows.n_hits.size(), rows.sources_missing.size(), rows.flags.size()});
    rows.time = rows.time.first(n);
    rows.duration = rows.duration.first(n);
    rows.n_hits = rows.n_hits.first(n);
    rows.sources_missing = rows.sources_missing.first(n);
    rows.flags = rows.flags.first(n);
    const bool more = take(rows);
    for (auto& column : columns_) column.skip(n);
    return more;
  }

 private:
  OpenOutput open_;
  std::size_t number_;
  std::vector<ColumnCursor> columns_;
};

void scan_hits_of(const OpenOutput& open, std::uint64_t rows, const std::function<void(const HitRows&)>& take) {
  auto channels = open.column_of(hit_columns()[kHitChannel], rows);
  auto sources = open.column_of(hit_columns()[kHitSource], rows);
  while (channels.rows_left() > 0) {
    HitRows hits{channels.peek<std::uint32_t>(), sources.peek<std::uint16_t>()};
    const auto n = std::min(hits.channel.size(), hits.source.size());
    take({hits.channel.first(n), hits.source.first(n)});
    channels.skip(n);
    sources.skip(n);
  }
}

PartInfo merged_as_part(const OpenOutput& open, const std::filesystem::path& path) {
  PartInfo info;
  info.name = path.filename().string();
  info.events = open.rows(event_columns()[kEventTime]);
  info.hits = open.rows(hit_columns()[kHitTime]);
  auto slices = open.column(ledger_columns()[kLedgerSlice]);
  info.slices = slices.rows();
  if (info.slices == 0) return info;
  info.first_slice = slices.next<std::uint64_t>();
  info.last_slice = info.first_slice;
  slices.skip(info.slices - 2);
  if (slices.rows_left() > 0) info.last_slice = slices.next<std::uint64_t>();
  return info;
}

RunTables open_tables(const std::filesystem::path& path) {
  const OpenOutput open(path);
  const auto format = format_of_run(open);
  RunTables run{read_run_record(path),
                path.has_parent_path() ? path.parent_path() : std::filesystem::path("."),
                {},
                format == kMergedFormat};
  if (run.merged) {
    run.parts.push_back(merged_as_part(open, path));
  } else if (run.record.closed) {
    run.parts = read_run_file(path).parts;
  } else {
    for (auto& part : finished_parts(path)) run.parts.push_back(std::move(part.info));
  }
  return run;
}

}  // namespace

std::uint64_t RunTables::events() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.events;
  return sum;
}

std::size_t number_of_part(const RunTables& run, const PartInfo& part) {
  return static_cast<std::size_t>(std::ranges::find(run.parts, part.name, &PartInfo::name) - run.parts.begin());
}

RunTables open_run_tables(const std::filesystem::path& path) {
  return reading(path, [&] { return open_tables(path); });
}

void scan_events(const RunTables& run, const std::function<bool(const EventRows&)>& take) {
  reading(run.folder, [&] {
    PartCursor<EventPart> cursor(run.parts, [&](const PartInfo& part, std::size_t) {
      return std::make_unique<EventPart>(run.folder / part.name, number_of_part(run, part), part);
    });
    while (auto* part = cursor.next()) {
      if (!part->take_before(cursor.limit(), take)) return;
    }
  });
}

void scan_hits(const RunTables& run, const std::function<void(const HitRows&)>& take) {
  for (const auto& part : run.parts) {
    const auto path = run.folder / part.name;
    reading(path, [&] { scan_hits_of(OpenOutput(path), part.hits, take); });
  }
}

void scan_ledger(const RunTables& run, const std::function<void(const LedgerEntry&)>& take) {
  const auto sums =
      reading(run.folder, [&] { return merge_checked_ledgers(run.folder, run.parts, run.record.totals, take); });
  if (run.record.closed) expect_totals(run.record.totals, sums, "the run in '" + run.folder.string() + "'");
}

void verify_parts(const RunTables& run, const std::set<std::size_t>& parts) {
  for (const auto part : parts) {
    const auto path = run.folder / run.parts.at(part).name;
    reading(path, [&] {
      std::error_code error;
      if (std::filesystem::file_size(path, error) <= kReadWhole) verify_columns(path);
    });
  }
}

OutputEvent read_event(const RunTables& run, const EventPlace& place, std::uint64_t most_hits) {
  const auto path = run.folder / run.parts.at(place.part).name;
  return reading(path, [&] { return read_event_rows(path, place.row, 1, most_hits).at(0); });
}

}  // namespace eventloom
