#include <algorithm>

#include "core/dataflow/live_stream.hpp"
#include "core/engine/source_role.hpp"
#include "core/runtime/activity.hpp"
#include "formats/clip_buffer.hpp"

namespace eventloom {

EpochRange SourceRole::sent_epochs(const Stream& stream, SliceId slice) const {
  auto epochs = eventloom::sent_epochs(settings_.geometry, slice, stream.offsets);
  epochs.end = std::min(epochs.end, stream.run_end);
  return epochs;
}

/// The first epoch all of whose hits, like those of later epochs, belong to the first slice or later. Slice 0 includes
/// hits before tick 0.
Epoch SourceRole::first_of_run(const Stream& stream) const {
  if (settings_.first_slice.value == 0) return 0;
  const auto& geometry = settings_.geometry;
  return all_corrected_from(geometry.owned_epochs(settings_.first_slice).begin, stream.offsets,
                            geometry.base.epoch_ticks);
}

/// Epochs from the first one sent for a slice to the first in which any source has data of that slice.
std::int64_t SourceRole::lead(const Stream& stream) const {
  const auto& geometry = settings_.geometry;
  const auto ticks = total_span(settings_.offsets).most - stream.offsets.most;
  return static_cast<std::int64_t>(geometry.margin_epochs()) - ticks / std::int64_t{geometry.base.epoch_ticks};
}

/// Cuts the last epoch buffer at the end of the run if it extends beyond it.
void SourceRole::clip(const Stream& stream, UnderWay& under_way) const {
  auto& pieces = under_way.data.pieces;
  if (pieces.empty()) return;
  auto last = pieces.back();
  auto header = read_epoch_buffer_header(last);
  while (header && header->stored_bytes() < last.size()) {
    last = last.subspan(header->stored_bytes());
    header = read_epoch_buffer_header(last);
  }
  if (!header || header->epochs().end <= stream.run_end) return;
  under_way.clipped.clear();
  if (!clip_stored(last, {0, stream.run_end}, stream.source.stream->header(), under_way.clipped)) return;
  pieces.back() = pieces.back().first(pieces.back().size() - last.size());
  if (!under_way.clipped.empty()) pieces.emplace_back(under_way.clipped);
}

SourceRole::UnderWay& SourceRole::begin_message(Stream& stream, BuilderId builder) {
  auto& under_way = under_way_[builder.value];
  // An incomplete put may still read the buffers of the previous message.
  const bool kept = !under_way.data.damage.empty() || !under_way.clipped.empty();
  if (kept) outboxes_[builder.value].settle();
  under_way.data.clear();
  under_way.stream = &stream;
  under_way.slice = stream.next[builder.value];
  return under_way;
}

/// Collects the data of a slice; false if there are none, and no damage except a gap extending past the slice.
bool SourceRole::collect(const Stream& stream, UnderWay& under_way) {
  const Activity activity("reading a source");
  const auto sent = sent_epochs(stream, under_way.slice);
  auto& data = under_way.data;
  if (sent.begin >= sent.end) return false;
  stream.source.stream->collect(sent, data);
  if (stream.run_end != kNoEpoch) clip(stream, under_way);
  if (!data.pieces.empty() || data.damage.empty()) return !data.pieces.empty();
  return data.damage.size() != 1 || !continues_beyond(data.damage.front(), sent);
}

/// Slices that lack a source, and for which no other has data, are sent one by one, but not inside a stretch of more
/// than 1000, wherever in it reading begins.
bool SourceRole::continues_beyond(const Damage& damage, EpochRange sent) const {
  constexpr std::uint64_t kManySlices = 1000;
  const Epoch many = kManySlices * settings_.geometry.epochs_per_slice;
  return damage.n_epochs > many && damage.first_epoch < sent.begin && damage.first_epoch + damage.n_epochs > sent.end;
}

/// The gap covers a slice without data and those that end before the stream's next data or the end of its damage.
void SourceRole::find_gap(Stream& stream, const UnderWay& under_way) {
  const Activity activity("reading a source");
  const auto& geometry = settings_.geometry;
  auto next_data = stream.source.stream->next_beginning(sent_epochs(stream, under_way.slice).end);
  stream.gap_damage = under_way.data.damage;
  for (const auto& damage : stream.gap_damage) {
    const Epoch end = damage.first_epoch + damage.n_epochs;
    next_data = std::min(next_data.value_or(end), end);
  }
  stream.gap = {under_way.slice, {under_way.slice.value + 1}};
  if (!next_data) return;
  const Epoch next = first_corrected(*next_data, stream.offsets, geometry.base.epoch_ticks);
  stream.gap.end = std::max(stream.gap.end, geometry.slice_of(next - std::min(next, geometry.margin_epochs())));
}

void SourceRole::start_message(Stream& stream, BuilderId builder) {
  const auto& under_way = under_way_[builder.value];
  message_.slice = under_way.slice;
  message_.origin = stream.source.id.value;
  message_.has_more = !stream.data_end || under_way.slice < *stream.data_end;
  message_.n_damage = static_cast<std::uint32_t>(under_way.data.damage.size());
  message_.body.clear();
  if (message_.n_damage != 0) message_.body.push_back(std::as_bytes(std::span(under_way.data.damage)));
  message_.body.insert(message_.body.end(), under_way.data.pieces.begin(), under_way.data.pieces.end());
  for (const auto piece : message_.body) stream.bytes += piece.size();
  ++stream.messages;
  outboxes_[builder.value].start(message_);
}

/// Slices after the last data are still sent while that data lies in the margin before them.
void SourceRole::learn_end(Stream& stream) {
  if (stream.data_end) return;
  const auto end = stream.source.stream->end_epoch();
  if (!end) return;
  if (const auto damage = stream.source.stream->tail_damage()) stream.tail_damage.push_back(*damage);
  stream.data_end = SliceId{0};
  stream.send_end = SliceId{0};
  if (*end == 0) return;
  const auto& geometry = settings_.geometry;
  const Epoch last = last_corrected(*end - 1, stream.offsets, geometry.base.epoch_ticks);
  stream.data_end = SliceId{geometry.slice_of(last).value + 1};
  stream.send_end = SliceId{geometry.slice_of(last + geometry.margin_epochs()).value + 1};
  stream.send_end = std::min(stream.send_end, stop_);
}

/// One past the last slice with data that is sent. While the end of the data is unknown it is stop_: the data extend
/// beyond everything sent.
SliceId SourceRole::told_end(const Stream& stream) const { return std::min(stream.data_end.value_or(stop_), stop_); }

}  // namespace eventloom
