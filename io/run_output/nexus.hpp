#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5/column_writer.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// A NeXus entry in a merged file, for readers of NXevent_data: our events are its pulses, our hits its events.
///
///   /entry                            NXentry
///   /entry/events                     NXevent_data
///   /entry/events/event_id            source x channels_per_source (an attribute) + channel, i64
///   /entry/events/channel, source     links to /hits/channel and /hits/source, unknown to NeXus
///   /entry/events/event_time_zero     link to /events/time; `offset`: UTC of tick 0, if readers support the unit
///   /entry/events/event_index         virtual dataset: /events/first_hit without its last element
///   /entry/events/event_time_offset   time of a hit since the first of its event, u32
///
/// Only event_id and event_time_offset are stored here: 12 bytes per hit.
class NexusEntry {
 public:
  /// Creates the entry. `file` and `record` must outlive it.
  NexusEntry(const OutputFile& file, const RunRecord& record, const ColumnSettings& settings);

  /// Adds the next events, then all of their hits, in pieces. Throws UserError when a hit lies outside its event.
  void add_events(std::span<const Tick> times, std::span<const std::uint32_t> n_hits);
  void add_hits(std::span<const Tick> times);
  /// Adds the channels and sources of the same hits; both have equal lengths. Throws UserError for a channel of more
  /// than 28 bits.
  void add_ids(std::span<const std::uint32_t> channels, std::span<const std::uint16_t> sources);
  /// Hits until add_hits() or add_ids() writes its next chunk, see ColumnWriter.
  [[nodiscard]] std::uint64_t hits_to_chunk_end() const { return offsets_.rows_to_chunk_end(); }
  [[nodiscard]] std::uint64_t ids_to_chunk_end() const { return ids_.rows_to_chunk_end(); }

  /// Call once, when /events and /hits are complete.
  void finish(std::uint64_t events);

 private:
  [[nodiscard]] std::uint32_t offset_of(Tick hit);

  const OutputFile* file_;
  const RunRecord* record_;
  ColumnWriter offsets_;
  ColumnWriter ids_;
  std::vector<Tick> event_times_;  ///< events whose hits follow
  std::vector<std::uint32_t> event_hits_;
  std::size_t event_ = 0;
  std::uint64_t hits_left_ = 0;  ///< remaining hits of the current event
};

}  // namespace eventloom
