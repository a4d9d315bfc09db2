#include "app/source_role.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

constexpr SliceId kNever{std::numeric_limits<std::uint64_t>::max()};
/// Transfers that one source begins before the others have their turn.
constexpr std::size_t kTransfersPerTurn = 16;

}  // namespace

SliceId SourceRole::Stream::lowest() const { return *std::ranges::min_element(next); }

SourceRole::SourceRole(SourceRoleSettings settings, const Scheduler& scheduler, std::vector<LocalSource> sources,
                       std::vector<Outbox> outboxes)
    : settings_(settings), scheduler_(scheduler), outboxes_(std::move(outboxes)), under_way_(outboxes_.size()) {
  for (auto& source : sources) {
    Stream stream;
    stream.source = std::move(source);
    stream.ready.resize(settings_.n_builders);
    stream.told_end.resize(settings_.n_builders);
    stream.send_end = kNever;
    for (std::uint32_t b = 0; b < settings_.n_builders; ++b) {
      stream.next.push_back(scheduler_.next_slice({b}, settings_.first_slice));
    }
    learn_end(stream);
    streams_.push_back(std::move(stream));
  }
}

std::size_t SourceRole::do_work(SteadyTime now) {
  if (!start_) start_ = now;
  std::size_t work = 0;
  for (auto& outbox : outboxes_) work += outbox.pump() ? 1 : 0;
  for (auto& stream : streams_) {
    if (!stream.ended) work += serve(stream, now);
  }
  if (work == 0) return 0;
  for (auto& outbox : outboxes_) outbox.publish();
  forget_sent();
  return work;
}

std::size_t SourceRole::serve(Stream& stream, SteadyTime now) {
  for (std::size_t n = 0; n < kTransfersPerTurn; ++n) {
    look_for_credits(stream, now);
    const SourceView view{stream.source.id, stream.next, stream.ready, stream.send_end, stream.turn};
    const auto builder = scheduler_.choose(view);
    if (!builder || !send(stream, *builder)) return n + send_ends(stream);
  }
  return kTransfersPerTurn;
}

void SourceRole::look_for_credits(Stream& stream, SteadyTime now) {
  const SliceId lowest = stream.lowest();
  for (std::uint32_t b = 0; b < settings_.n_builders; ++b) {
    const SliceId slice = stream.next[b];
    const bool near = slice.value - lowest.value <= settings_.max_lead;
    stream.ready[b] = near && slice < stream.send_end && outboxes_[b].accepts(slice) && due(slice, now) ? 1 : 0;
  }
}

/// With --speed, a slice may go when as much time has passed as it took to record it.
bool SourceRole::due(SliceId slice, SteadyTime now) const {
  if (settings_.speed <= 0) return true;
  const double slices = static_cast<double>(slice.value + 1 - settings_.first_slice.value);
  const double recorded_ps = slices * static_cast<double>(settings_.geometry.slice_ticks()) *
                             static_cast<double>(settings_.geometry.base.tick_ps);
  return std::chrono::duration<double, std::pico>(now - *start_).count() * settings_.speed >= recorded_ps;
}

/// False when the stream turns out to end before the slice.
bool SourceRole::send(Stream& stream, BuilderId builder) {
  const SliceId slice = stream.next[builder.value];
  auto& under_way = under_way_[builder.value];
  // Damage records of the message before may have gone out in a put that is not yet flushed.
  if (!under_way.data.damage.empty()) outboxes_[builder.value].publish();
  under_way.data.clear();
  stream.source.stream->collect(settings_.geometry.sent_epochs(slice), under_way.data);
  learn_end(stream);
  if (slice >= stream.send_end) return false;
  under_way.stream = &stream;
  under_way.slice = slice;
  Message message;
  message.slice = slice;
  message.origin = stream.source.id.value;
  message.goes_on = !stream.data_end || slice < *stream.data_end;
  message.n_damage = static_cast<std::uint32_t>(under_way.data.damage.size());
  if (message.n_damage != 0) message.body.push_back(std::as_bytes(std::span(under_way.data.damage)));
  message.body.insert(message.body.end(), under_way.data.pieces.begin(), under_way.data.pieces.end());
  outboxes_[builder.value].start(std::move(message));
  outboxes_[builder.value].pump();
  stream.next[builder.value] = scheduler_.next_slice(builder, {slice.value + 1});
  ++stream.turn;
  return true;
}

/// Slices after the last data are still sent as far as that data is the margin before them.
void SourceRole::learn_end(Stream& stream) {
  if (stream.data_end) return;
  const auto end = stream.source.stream->end_epoch();
  if (!end) return;
  if (const auto damage = stream.source.stream->tail_damage()) stream.tail_damage.push_back(*damage);
  stream.data_end = SliceId{0};
  stream.send_end = SliceId{0};
  if (*end == 0) return;
  stream.data_end = SliceId{settings_.geometry.slice_of(*end - 1).value + 1};
  stream.send_end = SliceId{settings_.geometry.slice_of(*end - 1 + settings_.geometry.margin_epochs()).value + 1};
}

std::size_t SourceRole::send_ends(Stream& stream) {
  if (!stream.data_end || stream.lowest() < stream.send_end) return 0;
  std::size_t told = 0;
  for (std::uint32_t b = 0; b < settings_.n_builders; ++b) {
    if (stream.told_end[b] != 0 || !outboxes_[b].free()) continue;
    outboxes_[b].start_end(stream.source.id.value, *stream.data_end, stream.tail_damage);
    outboxes_[b].pump();
    stream.told_end[b] = 1;
    ++told;
  }
  const auto finished = [&](std::size_t b) { return stream.told_end[b] != 0 && outboxes_[b].free(); };
  bool all = true;
  for (std::uint32_t b = 0; b < settings_.n_builders; ++b) all = all && finished(b);
  if (all) {
    stream.ended = true;
    ++ended_;
    ++told;
  }
  return told;
}

void SourceRole::forget_sent() {
  for (auto& stream : streams_) {
    SliceId keep = stream.lowest();
    for (std::size_t b = 0; b < outboxes_.size(); ++b) {
      if (under_way_[b].stream == &stream && !outboxes_[b].free()) keep = std::min(keep, under_way_[b].slice);
    }
    stream.source.stream->forget(settings_.geometry.sent_epochs(keep).begin);
  }
}

void SourceRole::settle() {
  for (auto& outbox : outboxes_) outbox.settle();
}

std::uint64_t SourceRole::hits_read() const {
  std::uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream.source.stream->hits_read();
  return sum;
}

std::uint64_t SourceRole::anomalies() const {
  std::uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream.source.stream->anomalies();
  return sum;
}

std::uint64_t SourceRole::slices_sent() const {
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& stream : streams_) {
    if (!stream.ended) lowest = std::min(lowest, stream.lowest().value - settings_.first_slice.value);
  }
  return lowest == std::numeric_limits<std::uint64_t>::max() ? slices_expected().value_or(0) : lowest;
}

std::optional<std::uint64_t> SourceRole::slices_expected() const {
  std::uint64_t most = 0;
  for (const auto& stream : streams_) {
    if (!stream.data_end) return std::nullopt;
    most = std::max(most, stream.data_end->value);
  }
  return most - std::min(most, settings_.first_slice.value);
}

}  // namespace eventloom
