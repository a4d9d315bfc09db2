#include "io/run_output/nexus.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/text_column.hpp"
#include "io/hdf5/virtual_layout.hpp"
#include "io/run_format/layout.hpp"

namespace eventloom {

namespace {

/// Some programs read unsigned numbers as signed ones. No event is half as long as the longest possible slice with its
/// overlaps.
constexpr Tick kLongestEvent(std::numeric_limits<std::int32_t>::max());

void set_class(hid_t file, const char* path, const char* nx_class) {
  const H5Id object = open_object(file, path);
  check(object.get(), path);
  write_attribute(object.get(), "NX_class", nx_class);
}

/// Readers compute a 64-bit date from `offset` and the unit: a wrong one in picoseconds, none for multiples of a unit.
bool makes_dates(const std::string& unit) { return unit == "ns" || unit == "us" || unit == "ms" || unit == "s"; }

}  // namespace

NexusEntry::NexusEntry(const OutputFile& file, const RunRecord& record, const ColumnSettings& settings)
    : file_(&file),
      record_(&record),
      offsets_(file, event_time_offset_column(), settings),
      ids_(file, event_id_column(), settings) {
  create_group(file.id(), "/entry");
  create_group(file.id(), "/entry/events");
  set_class(file.id(), "/", "NXroot");
  set_class(file.id(), "/entry", "NXentry");
  set_class(file.id(), "/entry/events", "NXevent_data");
  write_attribute(file.id(), "default", std::string("entry"));
}

void NexusEntry::add_events(std::span<const Tick> times, std::span<const std::uint32_t> n_hits) {
  event_times_.assign(times.begin(), times.end());
  event_hits_.assign(n_hits.begin(), n_hits.end());
  event_ = 0;
  hits_left_ = event_hits_.empty() ? 0 : event_hits_.front();
}

std::uint32_t NexusEntry::offset_of(Tick hit) {
  while (hits_left_ == 0 && event_ + 1 < event_hits_.size()) hits_left_ = event_hits_[++event_];
  const Tick begin = event_times_[event_];
  if (hits_left_ == 0 || hit < begin || hit - begin > kLongestEvent) {
    throw UserError("the hit at tick " + std::to_string(hit.value) + " is outside of its event, at tick " +
                    std::to_string(begin.value) + ": the run is damaged");
  }
  --hits_left_;
  return static_cast<std::uint32_t>(hit - begin);
}

void NexusEntry::add_hits(std::span<const Tick> times) {
  offsets_.generate<std::uint32_t>(times.size(), [this, hit = times.begin()]() mutable { return offset_of(*hit++); });
}

void NexusEntry::add_ids(std::span<const std::uint32_t> channels, std::span<const std::uint16_t> sources) {
  ids_.generate<std::int64_t>(channels.size(), [channel = channels.begin(), source = sources.begin()]() mutable {
    if (*channel >= kNexusChannels) {
      throw UserError("a hit has channel " + std::to_string(*channel) +
                      ", which has more than 28 bits: the run is damaged");
    }
    return static_cast<std::int64_t>(*source++ * kNexusChannels + *channel++);
  });
}

void NexusEntry::finish(std::uint64_t events) {
  offsets_.finish();
  ids_.finish();
  const auto file = file_->id();
  const H5Id ids = open_object(file, event_id_column().path);
  check(ids.get(), event_id_column().path.c_str());
  write_attribute(ids.get(), "channels_per_source", kNexusChannels);
  link_object(file, "/entry/events/channel", "/hits/channel");
  link_object(file, "/entry/events/source", "/hits/source");
  link_object(file, "/entry/events/event_time_zero", "/events/time");
  const H5Id index = create_view(file, "/entry/events/event_index", first_hit_column().path, events, events + 1);
  write_attribute(index.get(), "meaning", "first hit of each event: /events/first_hit without its last element");
  write_text(file, "/entry/title", "events by " + record_->definition);
  write_text(file, "/entry/program_name", "eventloom");
  if (record_->time_of_tick_0.empty()) return;
  write_text(file, "/entry/start_time", record_->time_of_tick_0);
  if (!makes_dates(unit_of_ticks(record_->base.tick_ps))) return;
  const H5Id time = open_object(file, "/events/time");
  check(time.get(), "/events/time");
  write_attribute(time.get(), "offset", record_->time_of_tick_0);
}

}  // namespace eventloom
