#include "io/run_input/event_stream.hpp"

#include <algorithm>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/run_input/part_cursor.hpp"
#include "io/run_input/part_events.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLeastBuffer = std::size_t{4} << 10;
/// Columns of /events with first_hit, /hits with first_payload, and /payload.
constexpr std::size_t kStreamColumns = std::size_t{kEventColumns} + kHitColumns + 3;

struct StreamedPart : PartEvents {
  StreamedPart(const RunTables& run, const PartInfo& part, std::size_t buffer)
      : PartEvents(OpenOutput(run.folder / part.name, part), part.events, part.hits, buffer),
        number(number_of_part(run, part)) {}

  std::size_t number;
};

}  // namespace

struct EventStream::Parts {
  Parts(const RunTables& run, std::size_t buffer_bytes)
      : place(run.parts.size() == 1 ? run.folder / run.parts.front().name : run.folder),
        cursor(run.parts, [&run, buffer_bytes](const PartInfo& part, std::size_t chains) {
          const auto buffer = std::clamp(buffer_bytes / (chains * kStreamColumns), kLeastBuffer, kColumnBuffer);
          return std::make_unique<StreamedPart>(run, part, buffer);
        }) {}

  std::filesystem::path place;  ///< path of the run, for messages
  PartCursor<StreamedPart> cursor;
  StreamedPart* current = nullptr;  ///< part with the current event
};

EventStream::EventStream(const RunTables& run, std::size_t buffer_bytes)
    : parts_(reading(run.folder, [&] { return std::make_unique<Parts>(run, buffer_bytes); })),
      share_times_(events_share_times(run.record)) {}

EventStream::~EventStream() = default;

bool EventStream::next() {
  return reading(parts_->place, [&] {
    if (parts_->current != nullptr) parts_->current->read_through();
    parts_->current = parts_->cursor.next();
    if (parts_->current == nullptr) return false;
    const Tick least = event_.time + (started_ && !share_times_ ? Tick(1) : Tick(0));
    if (parts_->current->key() < least) {
      throw UserError(
          fmt::format("the events in '{}' are not in the order of time: a file is damaged, or they are not of one run",
                      parts_->place.string()));
    }
    number_ += started_ ? 1 : 0;
    started_ = true;
    place_ = {parts_->current->number, parts_->current->row()};
    parts_->current->read_event(event_);
    return true;
  });
}

void EventStream::read_hits(HitPiece& piece) {
  reading(parts_->place, [&] { parts_->current->read_hits(piece); });
}

void EventStream::read_words(std::vector<std::uint32_t>& words) {
  reading(parts_->place, [&] { parts_->current->read_words(words); });
}

}  // namespace eventloom
