#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5/column_writer.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// A NeXus entry in a merged file, which readers of NXevent_data load: our events are its pulses, our hits its events.
///
///   /entry                            NXentry
///   /entry/events                     NXevent_data
///   /entry/events/event_id            /hits/channel itself
///   /entry/events/source              /hits/source itself, which NeXus does not know
///   /entry/events/event_time_zero     /events/time itself; with the UTC of tick 0 as `offset`, where readers make a
///   date of it /entry/events/event_index         /events/first_hit without its last element, as a virtual dataset
///   /entry/events/event_time_offset   time of the hit since the first of its event: the only data of its own
class NexusEntry {
 public:
  /// Begins the entry. `file` must outlive it.
  NexusEntry(const OutputFile& file, const RunRecord& record, const ColumnSettings& settings);

  /// The next events, then all of their hits, in pieces. Throws UserError when a hit is not in its event.
  void add_events(std::span<const Tick> times, std::span<const std::uint32_t> n_hits);
  void add_hits(std::span<const Tick> times);
  /// See ColumnWriter.
  [[nodiscard]] std::uint64_t rows_to_chunk_end() const { return offsets_.rows_to_chunk_end(); }

  /// Call once, when /events and /hits are complete.
  void finish(std::uint64_t events);

 private:
  [[nodiscard]] std::uint32_t offset_of(Tick hit);

  const OutputFile* file_;
  const RunRecord* record_;
  ColumnWriter offsets_;
  std::vector<Tick> event_times_;  ///< of the events whose hits are to come
  std::vector<std::uint32_t> event_hits_;
  std::size_t event_ = 0;
  std::uint64_t hits_left_ = 0;  ///< of the current event
};

}  // namespace eventloom
