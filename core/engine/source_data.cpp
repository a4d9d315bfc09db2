#include "core/engine/source_data.hpp"

#include <utility>

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/activity.hpp"
#include "formats/clip_buffer.hpp"

namespace eventloom {

SourceData::SourceData(LocalSource source, const SourceRoleSettings& settings)
    : source_(std::move(source)), settings_(settings) {
  if (!settings_.offsets.empty()) offsets_ = settings_.offsets[id().value];
}

/// A source that is read sequentially need not keep data that will not be collected.
void SourceData::begin() {
  if (live() != nullptr) {
    source_.begin.epoch = first_of_run();
    live()->begin(std::move(source_.begin));
  } else {
    first_slice_ = settings_.geometry.slice_of(source_.stream->first_epoch().value_or(Epoch(0)));
  }
  release_before(settings_.first_slice);
  learn_end();
}

EpochRange SourceData::sent_epochs(SliceId slice) const {
  auto epochs = eventloom::sent_epochs(settings_.geometry, slice, offsets_);
  epochs.end = std::min(epochs.end, run_end_);
  return epochs;
}

/// The first epoch all of whose hits, like those of later epochs, belong to the first slice or later. Slice 0 includes
/// hits before tick 0.
Epoch SourceData::first_of_run() const {
  if (settings_.first_slice.value == 0) return 0;
  const auto& geometry = settings_.geometry;
  return all_corrected_from(geometry.owned_epochs(settings_.first_slice).begin, offsets_, geometry.base.epoch_ticks);
}

std::int64_t SourceData::lead() const {
  const auto& geometry = settings_.geometry;
  const auto ticks = total_span(settings_.offsets).most - offsets_.most;
  return static_cast<std::int64_t>(geometry.margin_epochs()) - ticks / std::int64_t{geometry.base.epoch_ticks};
}

bool SourceData::collect(SliceId slice, CollectedSlice& out) {
  const bool any = !gap_.contains(slice) && read(slice, out);
  if (!any && !gap_.contains(slice)) find_gap(slice, out.data.damage);
  learn_end();
  return any;
}

/// Returns false if there are no data, and no damage except a gap extending past the slice.
bool SourceData::read(SliceId slice, CollectedSlice& out) {
  const Activity activity("reading a source");
  const auto sent = sent_epochs(slice);
  auto& data = out.data;
  if (sent.begin >= sent.end) return false;
  source_.stream->collect(sent, data);
  if (run_end_ != kNoEpoch) clip(out);
  if (!data.pieces.empty() || data.damage.empty()) return !data.pieces.empty();
  return data.damage.size() != 1 || !continues_beyond(data.damage.front(), sent);
}

/// Cuts the last epoch buffer at the end of the run if it extends beyond it.
void SourceData::clip(CollectedSlice& out) const {
  auto& pieces = out.data.pieces;
  if (pieces.empty()) return;
  auto last = pieces.back();
  auto header = read_epoch_buffer_header(last);
  while (header && header->stored_bytes() < last.size()) {
    last = last.subspan(header->stored_bytes());
    header = read_epoch_buffer_header(last);
  }
  if (!header || header->epochs().end <= run_end_) return;
  out.clipped.clear();
  if (!clip_stored(last, {0, run_end_}, source_.stream->header(), out.clipped)) return;
  pieces.back() = pieces.back().first(pieces.back().size() - last.size());
  if (!out.clipped.empty()) pieces.emplace_back(out.clipped);
}

/// Slices that lack a source, and for which no other has data, are sent one by one, but not inside a stretch of more
/// than 1000, wherever in it reading begins.
bool SourceData::continues_beyond(const Damage& damage, EpochRange sent) const {
  constexpr std::uint64_t kManySlices = 1000;
  const Epoch many(kManySlices * settings_.geometry.epochs_per_slice);
  return damage.n_epochs > many && damage.first_epoch < sent.begin && damage.first_epoch + damage.n_epochs > sent.end;
}

/// The gap covers a slice without data and those that end before the stream's next data or the end of its damage.
void SourceData::find_gap(SliceId slice, const std::vector<Damage>& damage) {
  const Activity activity("reading a source");
  const auto& geometry = settings_.geometry;
  auto next_data = source_.stream->next_beginning(sent_epochs(slice).end);
  gap_damage_ = damage;
  for (const auto& lost : damage) {
    const Epoch end = lost.first_epoch + lost.n_epochs;
    next_data = std::min(next_data.value_or(end), end);
  }
  gap_ = {slice, {slice.value + 1}};
  if (!next_data) return;
  const Epoch next = first_corrected(*next_data, offsets_, geometry.base.epoch_ticks);
  gap_.end = std::max(gap_.end, geometry.slice_of(next - std::min(next, geometry.margin_epochs())));
}

/// Slices after the last data are still sent while that data lies in the margin before them.
void SourceData::learn_end() {
  if (data_end_) return;
  const auto end = source_.stream->end_epoch();
  if (!end) return;
  tail_ = source_.stream->tail_damage();
  data_end_ = send_end_ = SliceId{0};
  if (*end == 0) return;
  const auto& geometry = settings_.geometry;
  const Epoch last = last_corrected(*end - 1, offsets_, geometry.base.epoch_ticks);
  data_end_ = SliceId{geometry.slice_of(last).value + 1};
  send_end_ = std::min(SliceId{geometry.slice_of(last + geometry.margin_epochs()).value + 1}, stop_);
}

std::span<const Damage> SourceData::tail() const {
  return tail_ && is_whole() ? std::span(&*tail_, 1) : std::span<const Damage>();
}

void SourceData::stop_at(SliceId stop) {
  stop_ = stop;
  send_end_ = std::min(send_end_, stop);
}

Epoch SourceData::end_at(SliceId end) {
  const auto& geometry = settings_.geometry;
  run_end_ = all_corrected_before(geometry.owned_epochs(end).begin, offsets_, geometry.base.epoch_ticks);
  return run_end_;
}

}  // namespace eventloom
