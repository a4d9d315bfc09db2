#include "app/observe/prometheus_text.hpp"

#include <algorithm>
#include <string_view>

#include "app/observe/prometheus_histogram.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

std::string valid_utf8(const std::string& text) {
  const auto dumped = Json(text).dump();
  return Json::parse(dumped).get<std::string>();
}

std::string label(const char* name, const std::string& value) {
  return fmt::format("{}=\"{}\"", name, escaped_label(value));
}

/// One metric and its samples.
class Family {
 public:
  Family(std::string& out, std::string_view name, std::string_view type, std::string_view help)
      : out_(out), name_(name) {
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  template <class Number>
  void add(Number value, const std::string& labels = {}) {
    out_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + fmt::format(" {}\n", value);
  }

 private:
  std::string& out_;
  std::string name_;
};

/// Name of a counter of the metrics table. Sums only rise; the others are gauges. Times are given in seconds.
struct TableName {
  std::string name;
  const char* type;
  bool in_seconds;
};

TableName name_of(const MetricInfo& metric, const char* prefix) {
  constexpr std::string_view kNanoseconds = "_ns";
  std::string name = prefix + std::string(metric.name);
  const bool in_seconds = metric.unit == "ns" && name.ends_with(kNanoseconds);
  if (in_seconds) name.replace(name.size() - kNanoseconds.size(), kNanoseconds.size(), "_seconds");
  const bool is_sum = metric.adding == Adding::sum;
  return {name + (is_sum ? "_total" : ""), is_sum ? "counter" : "gauge", in_seconds};
}

void add_value(Family& family, const TableName& name, std::uint64_t value, const std::string& labels = {}) {
  if (name.in_seconds) return family.add(static_cast<double>(value) / 1e9, labels);
  family.add(value, labels);
}

void add_totals(std::string& out, const Counters& totals) {
  for (const auto& metric : all_metrics()) {
    if (account_of(metric.metric) == Account::source) continue;
    const auto name = name_of(metric, "eventloom_");
    Family family(out, name.name, name.type, metric.help);
    add_value(family, name, totals[metric.metric]);
  }
  Family lost(out, "eventloom_hits_lost_total", "counter", "hits dropped, but for those that the user masks or cuts");
  lost.add(hits_lost(totals));
}

std::string source_labels(const RunDescription& run, std::uint32_t source) {
  const auto name = source < run.sources.size() ? run.sources[source] : std::string();
  return label("source", std::to_string(source)) + "," + label("name", name);
}

/// Omits a counter for sources that do not report it.
void add_sources(std::string& out, const RunDescription& run, const RunSnapshot& snapshot) {
  const auto all = snapshot.now.of_sources();
  for (const auto& metric : metrics_of(Account::source)) {
    const auto reports = [&](const auto& source) { return source.second.reports(metric.metric); };
    if (std::ranges::none_of(all, reports)) continue;
    const auto name = name_of(metric, "eventloom_source_");
    Family family(out, name.name, name.type, metric.help);
    for (const auto& source : all) {
      if (reports(source)) add_value(family, name, source.second[metric.metric], source_labels(run, source.first));
    }
  }
}

/// Adds one sample per row of this kind, over all ranks.
template <class Row, class Labels, class Value>
void add_rows(std::string& out, const RunSnapshot& snapshot, std::map<std::uint32_t, Row> RankRecord::*rows,
              const char* name, const char* type, const char* help, Labels labels, Value value) {
  Family family(out, name, type, help);
  const auto& ranks = snapshot.now.ranks();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const auto& [number, row] : ranks[r].*rows) family.add(value(row), labels(r, number));
  }
}

void add_streams(std::string& out, const RunDescription& run, const RunSnapshot& snapshot) {
  if (snapshot.condition.state == "idle") return;  // between runs, sources send to no builder
  const auto labels = [&](std::size_t, std::uint32_t source) { return source_labels(run, source); };
  const auto rows = &RankRecord::sources;
  add_rows(out, snapshot, rows, "eventloom_source_read_hits_total", "counter",
           "hits read from a source, or lost in damage", labels, [](const SourceRow& row) { return row.hits; });
  add_rows(out, snapshot, rows, "eventloom_source_sent_bytes_total", "counter", "bytes sent to builders", labels,
           [](const SourceRow& row) { return row.bytes; });
}

void add_builders(std::string& out, const RunSnapshot& snapshot) {
  const auto labels = [](std::size_t rank, std::uint32_t builder) {
    return label("builder", std::to_string(builder)) + "," + label("rank", std::to_string(rank));
  };
  const auto rows = &RankRecord::builders;
  add_rows(out, snapshot, rows, "eventloom_builder_slices_total", "counter", "slices built by a builder", labels,
           [](const BuilderRow& row) { return row.slices; });
  add_rows(out, snapshot, rows, "eventloom_builder_hits_total", "counter", "hits of these slices", labels,
           [](const BuilderRow& row) { return row.hits; });
  add_rows(out, snapshot, rows, "eventloom_builder_busy_seconds_total", "counter", "time spent on building", labels,
           [](const BuilderRow& row) { return static_cast<double>(row.busy_ns) / 1e9; });
}

void add_links(std::string& out, const RunSnapshot& snapshot) {
  const auto labels = [](std::size_t rank, std::uint32_t builder) {
    return label("from_rank", std::to_string(rank)) + "," + label("builder", std::to_string(builder));
  };
  add_rows(out, snapshot, &RankRecord::links, "eventloom_link_bytes_total", "counter",
           "bytes sent from the sources of a rank to a builder", labels, [](const LinkRow& row) { return row.bytes; });
  add_rows(out, snapshot, &RankRecord::links, "eventloom_ring_fill_ratio", "gauge", "cells of a ring in use, 0 to 1",
           labels,
           [](const LinkRow& row) { return row.depth == 0 ? 0.0 : static_cast<double>(row.cells) / row.depth; });
}

void add_ranks(std::string& out, const RunDescription& run, const RunSnapshot& snapshot) {
  const auto labels = [&](std::size_t rank) {
    return label("rank", std::to_string(rank)) + "," +
           label("host", rank < run.ranks.size() ? run.ranks[rank].host : "");
  };
  Family silence(out, "eventloom_rank_silent_seconds", "gauge", "how long rank 0 has waited for a rank");
  for (std::size_t r = 0; r < snapshot.silent_s.size(); ++r) silence.add(snapshot.silent_s[r], labels(r));
  Family memory(out, "eventloom_rank_resident_memory_bytes", "gauge", "resident memory of a rank");
  const auto& ranks = snapshot.now.ranks();
  for (std::size_t r = 0; r < ranks.size(); ++r) memory.add(ranks[r].head.resident_bytes, labels(r));
}

void add_alarms(std::string& out, const RunSnapshot& snapshot) {
  if (snapshot.alarms.empty()) return;
  Family active(out, "eventloom_alarm_active", "gauge", "1 while the condition of an alarm holds");
  for (const auto& alarm : snapshot.alarms) active.add(alarm.active ? 1 : 0, label("condition", alarm.condition));
}

void add_run(std::string& out, const RunDescription& run, const RunSnapshot& snapshot) {
  Family build(out, "eventloom_build_info", "gauge", "the program, always 1");
  build.add(1, label("version", run.eventloom_version) + "," + label("mpi", run.mpi_version));
  Family state(out, "eventloom_run_state", "gauge", "1 for the state that the run is in");
  for (const char* name : {"starting", "running", "paused", "stopping", "ended", "failed"}) {
    state.add(snapshot.condition.state == name ? 1 : 0, label("state", name));
  }
  Family(out, "eventloom_run_elapsed_seconds", "gauge", "time since the first slice").add(snapshot.elapsed_s);
  if (!snapshot.figures.share) return;
  Family(out, "eventloom_run_done_ratio", "gauge", "how much of the run is done, 0 to 1").add(*snapshot.figures.share);
}

}  // namespace

std::string escaped_label(const std::string& value) {
  std::string text;
  for (const char c : valid_utf8(value)) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
  }
  return text;
}

std::string prometheus_text(const RunDescription& run, const RunSnapshot& snapshot) {
  std::string out;
  add_run(out, run, snapshot);
  add_totals(out, snapshot.totals);
  add_sources(out, run, snapshot);
  add_streams(out, run, snapshot);
  add_builders(out, snapshot);
  add_links(out, snapshot);
  add_ranks(out, run, snapshot);
  add_event_histograms(out, run, snapshot);
  add_alarms(out, snapshot);
  return out;
}

}  // namespace eventloom
