#include "app/event_file_run.hpp"

#include <chrono>
#include <cstdint>

#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

/// Merged files do not say when the run began.
std::int64_t second_of_beginning(const RunRecord& record) {
  const auto& text = record.began.empty() ? record.time_of_tick_0 : record.began;
  if (const auto utc = parse_utc(text)) return utc->seconds;
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

EventFileRun event_file_run(const RunRecord& record) {
  EventFileRun run{{}, record.base.tick_ps, record.numbered, {}, second_of_beginning(record)};
  for (const auto& source : record.sources) run.descriptions.push_back(source.description);
  if (!record.time_of_tick_0.empty()) run.tick_0_ns = parse_unix_ns(record.time_of_tick_0);
  return run;
}

}  // namespace eventloom
