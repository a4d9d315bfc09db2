#include "core/engine/source_role.hpp"

#include <algorithm>
#include <utility>

#include "core/dataflow/live_stream.hpp"

namespace eventloom {

namespace {

/// Limits on what one source sends before the others take their turn and the receivers are notified.
constexpr std::size_t kTransfersPerTurn = 64;
constexpr std::uint64_t kBytesPerTurn = std::uint64_t{256} << 10;

}  // namespace

SourceRole::SourceRole(SourceRoleSettings settings, Scheduler& scheduler, std::vector<LocalSource> sources,
                       std::vector<Outbox> outboxes)
    : settings_(std::move(settings)),
      scheduler_(scheduler),
      pace_(settings_.speed),
      live_(settings_.patience),
      outboxes_(std::move(outboxes)),
      under_way_(outboxes_.size()) {
  for (auto& source : sources) {
    Stream stream;
    stream.source = std::move(source);
    stream.start = stream.source.id.value;
    stream.ready.resize(settings_.n_builders);
    stream.told_end.resize(settings_.n_builders);
    stream.send_end = kNoSlice;
    stream.claims_end = stream.begun_end = settings_.first_slice;
    stream.next = NextSlices(settings_.n_builders);
    stream.from.resize(settings_.n_builders, settings_.first_slice);
    if (!settings_.offsets.empty()) stream.offsets = settings_.offsets[stream.source.id.value];
    if (auto* live = stream.source.live) {
      stream.live = live_.add(stream.source.id, *live, lead(stream));
      live->begin_at(first_of_run(stream));
    } else {
      stream.begin = settings_.geometry.slice_of(stream.source.stream->first_epoch().value_or(0));
    }
    // A source that is read sequentially need not keep data that will not be collected.
    stream.source.stream->release_before(sent_epochs(stream, settings_.first_slice).begin);
    for (std::size_t b = 0; b < settings_.n_builders; ++b) find_next(stream, b);
    learn_end(stream);
    streams_.push_back(std::move(stream));
  }
}

std::size_t SourceRole::do_work(SteadyTime now) {
  now_ = now;
  due_ = SteadyTime::max();
  pace_.turn(now);
  if (scheduler_.slot_ns() != 0) since_start_ = settings_.since_start();
  std::size_t work = live_.receive(now);
  for (const auto b : outboxes_.busy()) work += pump(b) ? 1 : 0;
  update_transfers();
  full_ = nullptr;
  for (auto& stream : streams_) {
    if (!stream.ended) work += serve(stream);
  }
  sent_ = work != 0;
  if (work == 0) return 0;
  outboxes_.publish();
  release_sent();
  return work;
}

bool SourceRole::pump(std::size_t builder) {
  const auto& outbox = outboxes_[builder];
  const bool moved = outboxes_.pump(builder);
  auto* stream = under_way_[builder].stream;
  if (moved && outbox.free() && stream != nullptr && !outbox.is_near()) stream->transfers.end(builder, outbox.cells());
  return moved;
}

void SourceRole::update_transfers() {
  under_way_now_ = 0;
  for (auto& stream : streams_) {
    stream.transfers.update(outboxes_.all());
    under_way_now_ += stream.transfers.under_way();
  }
}

bool SourceRole::make_room() {
  if (full_ == nullptr) return false;
  const auto first = full_->transfers.first_to_end();
  if (first) outboxes_[*first].flush();
  return first.has_value();
}

/// Whether the maximum number of messages is in flight.
bool SourceRole::is_full(const Stream& stream) const {
  if (settings_.transfers_in_flight != 0) return under_way_now_ >= settings_.transfers_in_flight;
  return under_way_now_ >= transfers_for(stream.messages == 0 ? 0 : stream.bytes / stream.messages);
}

std::size_t SourceRole::serve(Stream& stream) {
  learn_claims(stream);
  if (looks_at_all(stream)) look_at_all(stream);
  if (still_waits(stream)) return 0;
  const std::uint64_t bytes_before = stream.bytes;
  SourceView view{stream.source.id, stream.next.all(), readiness(stream), end_now(stream), stream.start};
  for (std::size_t n = 0; n < kTransfersPerTurn; ++n) {
    const auto builder = scheduler_.choose(view);
    if (builder && is_full(stream)) {
      full_ = &stream;
      stream.waiting = builder;
      return n;
    }
    if (!builder || !send(stream, *builder)) return n + send_ends(stream);
    if (stream.bytes - bytes_before > kBytesPerTurn) return n + 1;
    if (looks_at_all(stream)) stream.ready[builder->value] = may_go(stream, builder->value, lowest(stream)) ? 1 : 0;
    view.end = end_now(stream);
    view.start = stream.start;
  }
  return kTransfersPerTurn;
}

/// The last turn had too many messages in flight to send another, and that has not changed.
bool SourceRole::still_waits(Stream& stream) {
  const auto builder = std::exchange(stream.waiting, std::nullopt);
  if (!builder || !is_full(stream) || !readiness(stream)(*builder)) return false;
  full_ = &stream;
  stream.waiting = builder;
  return true;
}

/// Examining a slice has effects with live sources or slots: it gives up a late source, or finds when to take the next
/// turn. Otherwise only the builders that the scheduler asks about are examined.
bool SourceRole::looks_at_all(const Stream& stream) const { return stream.live || scheduler_.slot_ns() != 0; }

void SourceRole::look_at_all(Stream& stream) {
  const SliceId low = lowest(stream);
  for (std::size_t b = 0; b < settings_.n_builders; ++b) stream.ready[b] = may_go(stream, b, low) ? 1 : 0;
}

std::function<bool(BuilderId)> SourceRole::readiness(Stream& stream) {
  if (looks_at_all(stream)) return [&stream](BuilderId b) { return stream.ready[b.value] != 0; };
  return [this, &stream](BuilderId b) { return may_go(stream, b.value, lowest(stream)); };
}

/// When builders claim their slices: finds the next slice of builders that had none.
void SourceRole::learn_claims(Stream& stream) {
  const auto* claims = scheduler_.claims();
  if (claims == nullptr || claims->end() == stream.claims_end) return;
  stream.claims_end = claims->end();
  for (std::size_t b = 0; b < settings_.n_builders; ++b) {
    if (stream.next[b] == kNoSlice) find_next(stream, b);
  }
}

void SourceRole::find_next(Stream& stream, std::size_t builder) {
  const BuilderId id{static_cast<std::uint32_t>(builder)};
  stream.next.set(
      builder, serves(builder) ? next_unfinished(scheduler_, settings_.finished, id, stream.from[builder]) : kNoSlice);
}

/// The lowest slice that the source has still to send, given the builders known so far.
SliceId SourceRole::lowest(const Stream& stream) const {
  const SliceId known = stream.next.lowest();
  return scheduler_.claims() == nullptr ? known : std::min(known, stream.claims_end);
}

bool SourceRole::may_go(Stream& stream, std::size_t builder, SliceId lowest) {
  const SliceId slice = stream.next[builder];
  if (stream.after_gap && outboxes_[builder].accepts(slice)) leave_out_slots(stream, slice);
  return !frozen_ && slice < end_now(stream) && slice.value - lowest.value <= settings_.max_lead &&
         outboxes_[builder].accepts(slice) && is_due(stream, slice) &&
         (!stream.live || live_.ready(*stream.live, sent_epochs(stream, slice)));
}

/// Returns false if the stream turns out to end before the slice. A slice without data is sent as a gap up to the
/// stream's next data.
bool SourceRole::send(Stream& stream, BuilderId builder) {
  const SliceId low = lowest(stream);
  auto& under_way = begin_message(stream, builder);
  const SliceId slice = under_way.slice;
  const bool nothing = stream.gap.contains(slice) || !collect(stream, under_way);
  if (nothing && !stream.gap.contains(slice)) find_gap(stream, under_way);
  learn_end(stream);
  if (slice >= stream.send_end) return false;
  if (nothing) {
    under_way.data.damage = stream.gap_damage;
    stream.after_gap = scheduler_.slot_ns() != 0;
    stream.from[builder.value] = stream.gap.end;
    outboxes_[builder.value].start_gap(stream.source.id.value, {slice, stream.gap.end}, under_way.data.damage);
  } else {
    stream.from[builder.value] = {slice.value + 1};
    stream.begun_end = std::max(stream.begun_end, stream.from[builder.value]);
    start_message(stream, builder);
  }
  if (!outboxes_[builder.value].is_near()) {
    stream.transfers.begin(builder.value, low);
    ++under_way_now_;
  }
  pump(builder.value);
  count_transfer(stream, slice);
  find_next(stream, builder.value);
  stream.start = builder.value + 1;
  return true;
}

std::size_t SourceRole::send_ends(Stream& stream) {
  if (lowest(stream) < stream.send_end || stream.send_end == kNoSlice) return 0;
  std::size_t told = 0;
  const bool whole = told_end(stream) == stream.data_end;
  for (std::uint32_t b = 0; b < settings_.n_builders; ++b) {
    if (!serves(b) || stream.told_end[b] != 0 || !outboxes_[b].free()) continue;
    const std::span<const Damage> tail(stream.tail_damage);
    outboxes_[b].start_end(stream.source.id.value, told_end(stream), whole ? tail : tail.first(0));
    outboxes_.pump(b);
    stream.told_end[b] = 1;
    ++told;
  }
  const auto finished = [&](std::size_t b) { return !serves(b) || (stream.told_end[b] != 0 && outboxes_[b].free()); };
  bool all = true;
  for (std::uint32_t b = 0; b < settings_.n_builders; ++b) all = all && finished(b);
  if (all) {
    stream.ended = true;
    ++ended_;
    ++told;
  }
  return told;
}

void SourceRole::release_sent() {
  for (auto& stream : streams_) {
    SliceId keep = std::min(lowest(stream), stream.transfers.lowest(kNoSlice));
    for (const auto b : outboxes_.busy()) {
      if (under_way_[b].stream == &stream) keep = std::min(keep, under_way_[b].slice);
    }
    stream.source.stream->release_before(sent_epochs(stream, keep).begin);
  }
}

}  // namespace eventloom
