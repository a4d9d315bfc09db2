#include "io/event_files/hld_format.hpp"

#include <chrono>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/hld/hld_writer.hpp"

namespace eventloom {

HldFormat::HldFormat(Names names, EventSplitter splitter, HldEventMaker events)
    : names_(std::move(names)), splitter_(std::move(splitter)), events_(events) {}

std::string HldFormat::file_name(std::uint32_t number) const {
  using namespace std::chrono;
  const auto time = kHldRunZero + seconds(names_.run + number);
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const auto day_of_year = (day - sys_days(date.year() / January / 1)).count() + 1;
  const hh_mm_ss clock(time - day);
  return fmt::format("{}{:02}{:03}{:02}{:02}{:02}{}.hld", names_.stem, static_cast<int>(date.year()) % 100, day_of_year,
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     names_.builder == 0 ? "" : fmt::format("{:02}", names_.builder));
}

Recognise HldFormat::ours() const { return is_written_hld; }

void HldFormat::begin_file(std::uint32_t number, std::vector<std::byte>& to) {
  events_.begin_run(names_.run + number);
  append_hld_begin(events_.run(), to);
}

std::uint32_t HldFormat::append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) {
  const auto& items = splitter_.split(event);
  events_.append_all(items, event.time, number, to);
  return events_.header(items, number).trigger();
}

void HldFormat::end_file(std::vector<std::byte>& to) { append_hld_end(events_.run(), to); }

std::size_t HldFormat::end_bytes() const { return kHldEndBytes; }

}  // namespace eventloom
