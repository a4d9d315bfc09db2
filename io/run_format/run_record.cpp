#include "io/run_format/run_record.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/setting_line.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

std::vector<std::string> setup_options(const RunRecord& record, const std::string& name) {
  std::vector<std::string> values;
  std::istringstream lines(record.setup);
  for (std::string line; std::getline(lines, line);) {
    if (auto setting = read_setting(line); setting && setting->name == name)
      values.push_back(std::move(setting->value));
  }
  return values;
}

std::string setup_option(const RunRecord& record, const std::string& name) {
  const auto values = setup_options(record, name);
  return values.empty() ? "" : values.front();
}

FilterCounts counts_of_filter(const std::vector<std::string>& filters, const RunTotals& totals, std::size_t i) {
  const std::uint64_t rejected = i < totals.rejected_by.size() ? totals.rejected_by[i] : 0;
  if (filters[i].starts_with(kFilterCommand)) return {totals[Metric::events], rejected};
  return {totals[Metric::events] + totals[Metric::events_rejected] - rejected, rejected};
}

std::string run_text(const RunRecord& record) {
  if (!record.run_number) return {};
  return "run " + std::to_string(*record.run_number) +
         (record.run_comment.empty() ? "" : " (" + record.run_comment + ")");
}

bool events_share_times(const RunRecord& record) {
  const auto first = record.definition.find_first_not_of(" \t");
  const bool clusters = first != std::string::npos && record.definition.compare(first, 7, "cluster") == 0;
  return clusters || setup_option(record, "per-source") == "true";
}

std::optional<std::string> utc_of_tick(const RunRecord& record, Tick tick) {
  if (record.time_of_tick_0.empty() || record.numbered) return std::nullopt;
  try {
    return utc_text(parse_unix_ns(record.time_of_tick_0), tick, record.base.tick_ps);
  } catch (const std::invalid_argument& e) {
    throw UserError("the attribute 'time_of_tick_0': " + std::string(e.what()));
  }
}

unsigned compress_of(const RunRecord& record) {
  const auto level = setup_option(record, "compress");
  return level.size() == 1 && level >= "0" && level <= "9" ? static_cast<unsigned>(level[0] - '0') : 0;
}

}  // namespace eventloom
