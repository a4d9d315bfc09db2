#include "schedulers/table.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "formats/units.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kPicosecondsPerNanosecond = 1000;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw std::invalid_argument("schedule table '" + name + "': " + what);
}

std::vector<std::string> fields_of(std::string line) {
  line = line.substr(0, line.find('#'));
  std::ranges::replace(line, ',', ' ');
  std::istringstream words(line);
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields;
}

/// Limits a time to one day, so that the times of 10^5 cycles fit in 64 bits.
std::uint64_t time_of(const std::string& field) {
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  const auto time = parse_duration(field, kPicosecondsPerNanosecond).value;
  if (time > kDay) throw std::invalid_argument("'" + field + "' is longer than a day");
  return time;
}

TableEntry entry_of(const std::vector<std::string>& fields) {
  if (fields.size() != 4) throw std::invalid_argument("expected time,size,source,destination");
  TableEntry entry;
  entry.time_ns = time_of(fields[0]);
  entry.bytes = parse_bytes(fields[1]);
  const auto source = parse_count(fields[2]);
  const auto builder = parse_count(fields[3]);
  if (source > std::numeric_limits<std::uint16_t>::max() || builder > std::numeric_limits<std::uint16_t>::max()) {
    throw std::invalid_argument("source and destination are numbers from 0 to 65535");
  }
  entry.source = {static_cast<std::uint16_t>(source)};
  entry.destination = {static_cast<std::uint32_t>(builder)};
  return entry;
}

}  // namespace

std::optional<std::string> schedule_file(std::string_view schedule) {
  constexpr std::string_view kBegin = "table:";
  if (!schedule.starts_with(kBegin) || schedule == kBegin) return std::nullopt;
  return std::string(schedule.substr(kBegin.size()));
}

ScheduleTable parse_schedule_table(const std::string& text, const std::string& name) {
  ScheduleTable table;
  std::istringstream in(text);
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto fields = fields_of(line);
    if (fields.empty()) continue;
    try {
      if (fields[0] == "period" && fields.size() == 2) {
        table.period_ns = time_of(fields[1]);
      } else {
        table.entries.push_back(entry_of(fields));
      }
    } catch (const std::invalid_argument& e) {
      refuse(name, "line " + std::to_string(number) + ": " + e.what());
    }
  }
  if (table.entries.empty()) refuse(name, "it has no entries");
  const auto last = std::ranges::max(table.entries, {}, &TableEntry::time_ns).time_ns;
  if (last != 0 && table.period_ns <= last) refuse(name, "it needs a line 'period,TIME' beyond its last time");
  return table;
}

Table::Table(const ScheduleSettings& settings)
    : Table(settings, parse_schedule_table(settings.table_text, schedule_file(settings.name).value()),
            schedule_file(settings.name).value()) {}

Table::Table(const ScheduleSettings& settings, const ScheduleTable& table, const std::string& name)
    : period_ns_(table.period_ns) {
  std::vector<std::vector<TableEntry>> by_source(settings.n_sources);
  for (const auto& entry : table.entries) {
    if (entry.source.value >= settings.n_sources) continue;
    if (entry.destination.value >= settings.n_builders) {
      refuse(name, "no builder " + std::to_string(entry.destination.value) + ", the run has " +
                       std::to_string(settings.n_builders));
    }
    by_source[entry.source.value].push_back(entry);
  }
  for (auto& entries : by_source) std::ranges::stable_sort(entries, {}, &TableEntry::time_ns);
  for (const auto& entry : by_source[0]) cycle_.push_back(entry.destination);
  for (std::uint32_t b = 0; b < settings.n_builders; ++b) {
    if (std::ranges::count(cycle_, BuilderId{b}) == 0) refuse(name, "no slice goes to builder " + std::to_string(b));
  }
  std::set<std::uint64_t> times;
  for (std::uint32_t s = 0; s < settings.n_sources; ++s) {
    for (const auto& entry : by_source[s]) times.insert(entry.time_ns);
    place_source(s, std::move(by_source[s]), name);
  }
  first_cycle_ = settings.first_slice.value / cycle_.size();
  if (period_ns_ == 0) return;
  step_ns_ = period_ns_ - *times.rbegin() + *times.begin();
  for (auto a = times.begin(), b = std::next(a); b != times.end(); ++a, ++b) step_ns_ = std::min(step_ns_, *b - *a);
}

/// Maps each slice of the cycle to one of the source's entries.
void Table::place_source(std::uint32_t source, std::vector<TableEntry> entries, const std::string& name) {
  std::vector<Place> places(cycle_.size());
  std::vector<std::uint8_t> used(entries.size());
  for (std::size_t slice = 0; slice < cycle_.size(); ++slice) {
    std::size_t i = 0;
    while (i < entries.size() && (used[i] != 0 || entries[i].destination != cycle_[slice])) ++i;
    if (i == entries.size() || entries.size() != cycle_.size()) {
      refuse(name, "source " + std::to_string(source) + " must send to each builder as often as source 0 does");
    }
    used[i] = 1;
    places[slice] = {i, entries[i].time_ns};
  }
  places_.push_back(std::move(places));
}

std::optional<SliceId> Table::next_slice(BuilderId builder, SliceId from) const {
  while (cycle_[from.value % cycle_.size()] != builder) ++from.value;
  return from;
}

std::uint64_t Table::slot_of(SourceId source, SliceId slice) const {
  const std::uint64_t n = cycle_.size();
  return slice.value / n * n + places_[source.value][slice.value % n].slot;
}

std::uint64_t Table::start_ns(SourceId source, SliceId slice) const {
  const std::uint64_t n = cycle_.size();
  return (slice.value / n - first_cycle_) * period_ns_ + places_[source.value][slice.value % n].time_ns;
}

}  // namespace eventloom
