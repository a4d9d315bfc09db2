#include "app/tools/bench/bench_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <utility>

#include "app/command/realtime.hpp"
#include "app/command/report_file.hpp"
#include "app/document/json_message.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/cores.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLeastWidth = 8;  // fits most values, so that the header is seldom repeated
constexpr const char* kGap = "  ";

/// The value of a point under a column's key; null when absent.
Json value_of(const Json& point, const std::string& key) {
  if (!key.starts_with('/')) return point.value(key, Json());
  const Json* found = point.at_path(key);
  return found ? *found : Json();
}

std::string number_text(const Json& value, const BenchColumn& column) {
  const bool percent = column.unit == "%";
  if (value.is_integer() && !percent && column.precision == 0) return value.dump();
  return fmt::format("{:.{}f}", value.get<double>() * (percent ? 100 : 1), column.precision);
}

std::string text_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + space : space + text;
}

std::string unit_of(const BenchColumn& column) { return column.unit.empty() ? "" : fmt::format("[{}]", column.unit); }

void print_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  std::cout << line << std::endl;  // a benchmark takes long: flush for readers of a pipe
}

Json binding() {
  const auto cpus = allowed_cpus();
  if (cpus.empty()) return {{"cpus", nullptr}, {"one_core", false}};
  return {{"cpus", ranges_of(cpus)}, {"one_core", cores_of(cpus).size() == 1}};
}

Json processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return nullptr;
}

Json positive(long value) { return value > 0 ? Json(value) : Json(); }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string or_unknown(const Json& value) { return value.is_null() ? "unknown" : text_of(value); }

/// "a: ranks 0-1; b: ranks 2,3" for the values of the ranks, in the order of their first ranks.
std::string by_rank(const std::vector<std::string>& what) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (std::size_t rank = 0; rank < what.size(); ++rank) {
    auto group = std::ranges::find(groups, what[rank], &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(group, {what[rank], {}});
    group->second.push_back(static_cast<int>(rank));
  }
  std::string out;
  for (const auto& [name, ranks] : groups) {
    out += (out.empty() ? "" : "; ") + name + (ranks.size() == 1 ? ": rank " : ": ranks ") + ranges_of(ranks);
  }
  return out;
}

void print_binding(std::ostream& out, const Json& ranks) {
  std::vector<std::string> cpus;
  bool bound = true;
  for (const auto& rank : ranks) {
    cpus.push_back(or_unknown(rank.at("cpus")));
    bound = bound && rank.at("one_core").get<bool>();
  }
  out << "binding    cpus " << by_rank(cpus) << '\n';
  if (!bound)
    out << "           not every rank is bound to one core: 'mpirun --bind-to core' or --realtime gives steadier "
           "numbers\n";
}

}  // namespace

BenchReport::BenchReport(std::string bench, std::vector<BenchColumn> columns, Json setup)
    : bench_(std::move(bench)), columns_(std::move(columns)), setup_(std::move(setup)) {
  for (const auto& column : columns_) {
    shapes_.push_back({std::max({kLeastWidth, column.title.size(), unit_of(column).size()}), false});
  }
}

BenchReport::Cell BenchReport::cell_of(const Json& point, const BenchColumn& column) {
  const auto value = value_of(point, column.key);
  if (value.is_null() || (value.is_number() && !std::isfinite(value.get<double>()))) return {"-", Cell::Kind::kMissing};
  if (value.is_number()) return {number_text(value, column), Cell::Kind::kNumber};
  return {text_of(value), Cell::Kind::kText};
}

/// Returns whether a column had to become wider.
bool BenchReport::make_room(const std::vector<Cell>& cells) {
  bool wider = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto& shape = shapes_[i];
    shape.left = shape.left || cells[i].kind == Cell::Kind::kText;
    wider = wider || cells[i].text.size() > shape.width;
    shape.width = std::max(shape.width, cells[i].text.size());
  }
  return wider;
}

void BenchReport::print_header() const {
  std::string titles;
  std::string units;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const char* gap = i == 0 ? "" : kGap;
    titles.append(gap).append(padded(columns_[i].title, shapes_[i].width, shapes_[i].left));
    units.append(gap).append(padded(unit_of(columns_[i]), shapes_[i].width, shapes_[i].left));
  }
  print_line(titles);
  print_line(units);
}

void BenchReport::print_row(const std::vector<Cell>& cells) const {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool left = cells[i].kind != Cell::Kind::kNumber && shapes_[i].left;
    row += (i == 0 ? "" : kGap) + padded(cells[i].text, shapes_[i].width, left);
  }
  print_line(row);
}

void BenchReport::add(Json point) {
  std::vector<Cell> cells;
  for (const auto& column : columns_) cells.push_back(cell_of(point, column));
  const bool wider = make_room(cells);
  if (points_.empty() || wider) print_header();
  print_row(cells);
  points_.push_back(std::move(point));
}

void BenchReport::note(std::string line) {
  if (std::ranges::find(notes_, line) != notes_.end()) return;
  print_line(line);
  notes_.push_back(std::move(line));
}

void BenchReport::set_ranks(const Json& setup) {
  for (const auto* member : {"hosts", "binding", "realtime"}) setup_[member] = setup.at(member);
}

void BenchReport::set_load(Json load, const std::string& warning) {
  load_ = std::move(load);
  if (!warning.empty()) notes_.push_back(warning);
}

void BenchReport::write_json(const std::string& path) const {
  // Ordered, so that the file begins with its subject.
  Json json;
  json["format"] = kBenchReport;
  json["bench"] = bench_;
  json["setup"] = setup_;
  json["load"] = load_;
  json["points"] = points_;
  json["notes"] = notes_;
  // A path in the configuration need not be UTF-8; that must not cost the results.
  write_report(path, json.dump(2) + "\n");
}

namespace {

/// Reports of earlier versions have no "others".
ExchangeBackend backend_of(const Json& exchange) {
  return {text_of(exchange.at("pml")), text_of(exchange.at("osc")), text_of(exchange.at("ucx_transports")),
          exchange.at("is_ucx").get<bool>(), exchange.value("others", "")};
}

}  // namespace

Json bench_setup(const Communicator& communicator, const ExchangeBackend& backend,
                 const std::string& effective_config) {
  Json hosts = Json::array();
  Json bindings = Json::array();
  const Json mine = {{"host", host_name()}, {"binding", binding()}};
  for (const auto& rank : all_gather_json(communicator, mine)) {
    hosts.push_back(rank.at("host"));
    bindings.push_back(rank.at("binding"));
  }
  return {{"eventloom", EVENTLOOM_VERSION},
          {"mpi", MpiEnvironment::mpi_version()},
          {"ucx", MpiEnvironment::ucx_version()},
          {"started", utc_now()},
          {"hosts", hosts},
          {"binding", bindings},
          {"processor", processor_name()},
          {"cores", positive(sysconf(_SC_NPROCESSORS_ONLN))},
          {"l2_bytes", positive(sysconf(_SC_LEVEL2_CACHE_SIZE))},
          {"exchange",
           {{"pml", backend.pml},
            {"osc", backend.osc},
            {"ucx_transports", backend.transports},
            {"is_ucx", backend.is_ucx},
            {"others", backend.others}}},
          {"configuration", effective_config}};
}

void print_setup(std::ostream& out, const Json& setup) {
  const auto text = [&setup](const char* key) { return or_unknown(setup.at(key)); };
  const auto& l2 = setup.at("l2_bytes");
  const auto& exchange = setup.at("exchange");
  out << "eventloom  " << text("eventloom") << ", " << text("mpi") << ", UCX " << text("ucx") << ", " << text("started")
      << "\nhosts      " << by_rank(setup.at("hosts").get<std::vector<std::string>>()) << "\nprocessor  "
      << text("processor") << ", " << text("cores") << " cores, second-level cache "
      << (l2.is_null() ? "unknown" : std::to_string(l2.get<long>() / 1024) + " KiB") << "\n";
  print_binding(out, setup.at("binding"));
  if (const Json* realtime = setup.member("realtime"); realtime != nullptr && !realtime->is_null()) {
    out << "realtime   " << summary_of(realtime_of(*realtime)) << '\n';
  }
  const auto backend = backend_of(exchange);
  out << "exchange   " << exchange_text(backend) << (backend.is_ucx ? "\n" : " (not over UCX)\n");
}

}  // namespace eventloom
