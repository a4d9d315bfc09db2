#include "io/run_format/run_statistics.hpp"

#include <tuple>
#include <type_traits>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/record_columns.hpp"
#include "io/hdf5/text_column.hpp"

namespace eventloom {

namespace {

/// A column and the member that it stores.
template <class Row, class T>
struct Field {
  ColumnSpec spec;
  T Row::*member;
};

template <class Row, class T>
Field<Row, T> field(T Row::*member, const char* path, const char* meaning, const char* units = "") {
  constexpr auto type = std::is_same_v<T, double>          ? ElementType::f64
                        : std::is_same_v<T, std::uint32_t> ? ElementType::u32
                                                           : ElementType::u64;
  return {{path, type, meaning, false, {}, units}, member};
}

auto counter_table() {
  return std::tuple(field(&CounterRecord::name, "/counters/name", ""),
                    field(&CounterRecord::unit, "/counters/unit", ""),
                    field(&CounterRecord::value, "/counters/value", "value of the counter, in its unit"));
}

auto source_counter_table() {
  return std::tuple(field(&CounterRecord::source, "/source_counters/source", "number of the source, see /sources"),
                    field(&CounterRecord::name, "/source_counters/name", ""),
                    field(&CounterRecord::unit, "/source_counters/unit", ""),
                    field(&CounterRecord::value, "/source_counters/value", "value of the counter, in its unit"));
}

auto latency_table() {
  return std::tuple(
      field(&LatencyRecord::low_ns, "/latency/low", "from the first hit of an event until it is built: at least", "ns"),
      field(&LatencyRecord::high_ns, "/latency/high", "from the first hit of an event until it is built: less than",
            "ns"),
      field(&LatencyRecord::events, "/latency/events", "number of events"));
}

auto clock_table() {
  return std::tuple(
      field(&ClockQuality::offset_ns, "/clocks/offset", "clock of rank 0 less that of the rank", "ns"),
      field(&ClockQuality::rate_ppm, "/clocks/rate", "how much faster the clock of rank 0 runs", "ppm"),
      field(&ClockQuality::residual_ns, "/clocks/residual", "rms distance of the measurements from the fit", "ns"),
      field(&ClockQuality::precision_ns, "/clocks/precision", "bound of the error of the rank's time", "ns"),
      field(&ClockQuality::round_trips, "/clocks/round_trips", "number of round trips made"));
}

auto builder_table() {
  return std::tuple(field(&BuilderRecord::builder, "/builders/builder", "number of the builder"),
                    field(&BuilderRecord::rank, "/builders/rank", "its rank"),
                    field(&BuilderRecord::busy_ns, "/builders/busy", "time spent on building events", "ns"),
                    field(&BuilderRecord::idle_ns, "/builders/idle", "rest of the time", "ns"));
}

auto rate_table() {
  return std::tuple(
      field(&RateRecord::time_s, "/rates/time", "since the first slice was sent", "s"),
      field(&RateRecord::hits_per_s, "/rates/hits", "hits built, mean over three seconds", "1/s"),
      field(&RateRecord::bytes_per_s, "/rates/bytes", "bytes sent to builders, mean over three seconds", "byte/s"),
      field(&RateRecord::events_per_s, "/rates/events", "events written, mean over three seconds", "1/s"),
      field(&RateRecord::latency_p50_ns, "/rates/latency_p50", "median latency of events; NaN: none known", "ns"),
      field(&RateRecord::latency_p99_ns, "/rates/latency_p99", "latency that 99 % of events do not exceed", "ns"));
}

auto alarm_table() {
  return std::tuple(
      field(&AlarmRecord::condition, "/alarms/condition", ""), field(&AlarmRecord::quantity, "/alarms/quantity", ""),
      field(&AlarmRecord::unit, "/alarms/unit", ""), field(&AlarmRecord::raised, "/alarms/raised", ""),
      field(&AlarmRecord::over, "/alarms/over", ""),
      field(&AlarmRecord::limit, "/alarms/limit", "what the condition compares with, in its unit"),
      field(&AlarmRecord::value, "/alarms/value", "value of the quantity when the alarm was raised, in its unit"));
}

template <class Row, class T>
void write_field(const OutputFile& file, const Field<Row, T>& field, const std::vector<Row>& rows) {
  if constexpr (std::is_same_v<T, std::string>) {
    write_text_fields(file, field.spec.path.c_str(), rows, field.member);
  } else {
    write_fields<T>(file, field.spec, rows, field.member);
  }
}

std::string group_of(const ColumnSpec& spec) { return spec.path.substr(0, spec.path.rfind('/')); }

template <class Row, class Table>
void write_table(const OutputFile& file, const Table& table, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  create_group(file.id(), group_of(std::get<0>(table).spec).c_str());
  std::apply([&](const auto&... fields) { (write_field(file, fields, rows), ...); }, table);
}

template <class Row, class T>
std::vector<T> values_of(hid_t file, const std::string& name, const Field<Row, T>& field, std::size_t n) {
  if constexpr (std::is_same_v<T, std::string>) {
    auto values = read_text_column(file, field.spec.path.c_str());
    if (values.size() == n) return values;
    throw UserError(fmt::format("the dataset {} does not have {} rows", field.spec.path, n));
  } else {
    return read_column<T>(file, name, field.spec, n);
  }
}

template <class Row, class T>
void read_field(hid_t file, const std::string& name, const Field<Row, T>& field, std::vector<Row>& rows) {
  const auto values = values_of(file, name, field, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*field.member = values[i];
}

/// Far above the size of any run.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 24;

/// The last column of each table is numeric; it determines the number of rows.
template <class Row, class Table>
void read_table(hid_t file, const std::string& name, const Table& table, std::vector<Row>& rows) {
  const auto& last = std::get<std::tuple_size_v<Table> - 1>(table).spec;
  if (!has_object(file, group_of(last))) return;
  const auto n = ColumnCursor(file, name, last, 1).rows();
  if (n > kMostRows) throw UserError(fmt::format("the dataset {} has {} rows", last.path, n));
  rows.resize(static_cast<std::size_t>(n));
  std::apply([&](const auto&... fields) { (read_field(file, name, fields, rows), ...); }, table);
}

RunStatistics read_tables(hid_t file, const std::string& name) {
  RunStatistics statistics;
  read_table(file, name, counter_table(), statistics.counters);
  read_table(file, name, source_counter_table(), statistics.of_sources);
  read_table(file, name, latency_table(), statistics.latency);
  read_table(file, name, clock_table(), statistics.clocks);
  read_table(file, name, builder_table(), statistics.builders);
  read_table(file, name, rate_table(), statistics.rates);
  read_table(file, name, alarm_table(), statistics.alarms);
  return statistics;
}

}  // namespace

void write_statistics(const OutputFile& file, const RunStatistics& statistics) {
  write_table(file, counter_table(), statistics.counters);
  write_table(file, source_counter_table(), statistics.of_sources);
  write_table(file, latency_table(), statistics.latency);
  write_table(file, clock_table(), statistics.clocks);
  write_table(file, builder_table(), statistics.builders);
  write_table(file, rate_table(), statistics.rates);
  write_table(file, alarm_table(), statistics.alarms);
}

RunStatistics read_statistics(const std::filesystem::path& path) {
  const H5Id file = open_for_reading(path);
  try {
    return read_tables(file.get(), path.string());
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "' is damaged: " + e.what());
  }
}

}  // namespace eventloom
