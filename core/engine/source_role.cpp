#include "core/engine/source_role.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/activity.hpp"
#include "formats/clip_buffer.hpp"

namespace eventloom {

namespace {

/// How much one source sends before the other sources take their turn and the receivers are notified.
constexpr std::size_t kTransfersPerTurn = 64;
constexpr std::uint64_t kBytesPerTurn = std::uint64_t{256} << 10;
/// Expected of a source.
constexpr double kMostSlices = 1e18;

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
    // A source that is read as it comes need not keep data that will not be collected.
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

/// Whether as many messages are under way as may be.
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

/// Too many messages were under way for another in the last turn, and still are.
bool SourceRole::still_waits(Stream& stream) {
  const auto builder = std::exchange(stream.waiting, std::nullopt);
  if (!builder || !is_full(stream) || !readiness(stream)(*builder)) return false;
  full_ = &stream;
  stream.waiting = builder;
  return true;
}

/// Where the time of a slice counts, a look at a slice has effects: it gives up a source that is late, or finds when to
/// take the next turn. Elsewhere only the builders are looked at that the scheduler asks for.
bool SourceRole::looks_at_all(const Stream& stream) const { return stream.live || scheduler_.slot_ns() != 0; }

void SourceRole::look_at_all(Stream& stream) {
  const SliceId low = lowest(stream);
  for (std::size_t b = 0; b < settings_.n_builders; ++b) stream.ready[b] = may_go(stream, b, low) ? 1 : 0;
}

std::function<bool(BuilderId)> SourceRole::readiness(Stream& stream) {
  if (looks_at_all(stream)) return [&stream](BuilderId b) { return stream.ready[b.value] != 0; };
  return [this, &stream](BuilderId b) { return may_go(stream, b.value, lowest(stream)); };
}

/// Where builders claim their slices: finds the next slice of builders that had none.
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

/// The lowest slice that the source has still to send, as far as the builders of slices are known.
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

/// With --speed, a slice may go once as much time has passed as it took to record; with slots, once its slot has begun.
bool SourceRole::is_due(const Stream& stream, SliceId slice) {
  if (!stream.live && !pace_.due(recorded_ns({slice.value + 1}))) return false;
  if (scheduler_.slot_ns() == 0) return true;
  const auto wait = slot_begin(stream, slice) - since_start_;
  if (wait > 0) due_ = std::min(due_, now_ + std::chrono::nanoseconds(wait));
  return wait <= 0;
}

/// Time that it took to record the slices before this one.
double SourceRole::recorded_ns(SliceId end) const {
  const double slice_ps =
      static_cast<double>(settings_.geometry.slice_ticks()) * static_cast<double>(settings_.geometry.base.tick_ps);
  return static_cast<double>(end.value - settings_.first_slice.value) * slice_ps / 1000;
}

void SourceRole::set_speed(double speed) {
  SliceId next = settings_.first_slice;
  for (const auto& stream : streams_) {
    if (!stream.live && lowest(stream) < stream.send_end) next = std::max(next, lowest(stream));
  }
  pace_.change(speed, recorded_ns({next.value + 1}));
}

std::int64_t SourceRole::slot_begin(const Stream& stream, SliceId slice) const {
  return static_cast<std::int64_t>(scheduler_.start_ns(stream.source.id, slice)) - stream.left_out_ns;
}

/// The builders wait for the first slice after a gap. Unless other sources fill the gap, its slot is far ahead: then it
/// moves to an equivalent slot, a whole number of cycles earlier.
void SourceRole::leave_out_slots(Stream& stream, SliceId slice) {
  stream.after_gap = false;
  const SliceId ahead{slice.value + settings_.max_lead};
  const auto lead = slot_begin(stream, ahead) - slot_begin(stream, slice);
  const auto wait = slot_begin(stream, slice) - since_start_;
  const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
  if (wait > lead && cycle != 0) stream.left_out_ns += wait / cycle * cycle;
}

/// Transfers whose slots lay in a pause move to equivalent slots, a whole number of cycles later.
void SourceRole::move_slots(Stream& stream) const {
  std::int64_t late = 0;
  for (const SliceId slice : stream.next.all()) {
    if (slice < stream.send_end) late = std::max(late, since_start_ - slot_begin(stream, slice));
  }
  const auto cycle = static_cast<std::int64_t>(scheduler_.cycle_ns());
  if (cycle != 0) stream.left_out_ns -= (late + cycle - 1) / cycle * cycle;
}

EpochRange SourceRole::sent_epochs(const Stream& stream, SliceId slice) const {
  auto epochs = eventloom::sent_epochs(settings_.geometry, slice, stream.offsets);
  epochs.end = std::min(epochs.end, stream.run_end);
  return epochs;
}

/// No hit of it, or later, belongs before the first slice. Slice 0 counts those before tick 0.
Epoch SourceRole::first_of_run(const Stream& stream) const {
  if (settings_.first_slice.value == 0) return 0;
  const auto& geometry = settings_.geometry;
  return all_corrected_from(geometry.owned_epochs(settings_.first_slice).begin, stream.offsets,
                            geometry.base.epoch_ticks);
}

/// Epochs from the first that is sent for a slice to where a source, perhaps another one, has data of that slice.
std::int64_t SourceRole::lead(const Stream& stream) const {
  const auto& geometry = settings_.geometry;
  const auto ticks = total_span(settings_.offsets).most - stream.offsets.most;
  return static_cast<std::int64_t>(geometry.margin_epochs()) - ticks / std::int64_t{geometry.base.epoch_ticks};
}

/// Cuts the last epoch buffer at the end of the run if it reaches beyond.
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

/// False when the stream turns out to end before the slice. A slice without data is sent as a gap up to where the
/// stream has data again.
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

SourceRole::UnderWay& SourceRole::begin_message(Stream& stream, BuilderId builder) {
  auto& under_way = under_way_[builder.value];
  auto& outbox = outboxes_[builder.value];
  // The buffers of the previous message may be the source of a put that is not complete.
  const bool kept = !under_way.data.damage.empty() || !under_way.clipped.empty();
  if (kept && outbox.complete_cells() < outbox.cells()) outbox.flush();
  under_way.data.clear();
  under_way.stream = &stream;
  under_way.slice = stream.next[builder.value];
  return under_way;
}

/// Collects the data of a slice; false when there are none, and no damage but a long one that continues beyond it.
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

/// Slices that lack a source, and for which no other has data, are sent one by one; inside a stretch of more than 1000
/// they are not, wherever in it reading begins.
bool SourceRole::continues_beyond(const Damage& damage, EpochRange sent) const {
  constexpr std::uint64_t kManySlices = 1000;
  const Epoch many = kManySlices * settings_.geometry.epochs_per_slice;
  return damage.n_epochs > many && damage.first_epoch < sent.begin && damage.first_epoch + damage.n_epochs > sent.end;
}

/// A slice has no data: nor have those that end before the next data of the stream, or before its damage ends.
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

void SourceRole::count_transfer(const Stream& stream, SliceId slice) {
  const auto slot = static_cast<std::int64_t>(scheduler_.slot_ns());
  if (slot != 0 && since_start_ > slot_begin(stream, slice) + slot) ++late_transfers_;
}

/// Slices after the last data are still sent as long as that data lies in the margin before them.
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

SliceId SourceRole::begun_end() const {
  SliceId end = settings_.first_slice;
  for (const auto& stream : streams_) end = std::max(end, stream.begun_end);
  return end;
}

void SourceRole::pause_at(SliceId slice) {
  frozen_ = false;
  pause_ = slice;
  pace_.pause();
}

void SourceRole::resume() {
  frozen_ = false;
  if (pause_ == kNoSlice) return;
  pause_ = kNoSlice;
  pace_.resume();
  for (auto& stream : streams_) move_slots(stream);
  live_.resume();
}

void SourceRole::stop_at(SliceId stop) {
  resume();
  stop_ = stop;
  live_.hurry();
  for (auto& stream : streams_) stream.send_end = std::min(stream.send_end, stop);
}

void SourceRole::end_at(SliceId end) {
  stop_at(end);
  const auto& geometry = settings_.geometry;
  for (auto& stream : streams_) {
    stream.run_end = all_corrected_before(geometry.owned_epochs(end).begin, stream.offsets, geometry.base.epoch_ticks);
    if (auto* live = stream.source.live) live->end_at(stream.run_end);
  }
}

bool SourceRole::cut_off() const {
  return std::ranges::any_of(
      streams_, [&](const Stream& s) { return told_end(s) != s.data_end || (s.live && live_.cut_short(*s.live)); });
}

bool SourceRole::cut_off_recorded() const {
  return std::ranges::any_of(streams_, [&](const Stream& s) { return !s.live && told_end(s) != s.data_end; });
}

/// One past the last slice with data that is sent. While the end of the data is unknown, they reach beyond everything
/// sent.
SliceId SourceRole::told_end(const Stream& stream) const { return std::min(stream.data_end.value_or(stop_), stop_); }

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

Counters SourceRole::counters() const {
  Counters all;
  for (const auto& outbox : outboxes_.all()) all.add(outbox.counters());
  all[Metric::late_transfers] = late_transfers_;
  for (const auto& stream : streams_) {
    all[Metric::hits_read] += stream.source.stream->hits_read();
    all[Metric::anomalies] += stream.source.stream->anomalies();
    add_other_markers(all, other_markers_of_source(stream.source.stream->counts().counters));
  }
  return all;
}

void SourceRole::add_counts(std::map<std::uint32_t, SourceCounts>& counts) const {
  for (const auto& stream : streams_) counts[stream.source.id.value].add(stream.source.stream->counts());
}

void SourceRole::add_remarks(std::map<std::uint32_t, std::vector<std::string>>& remarks) const {
  for (const auto& stream : streams_) {
    auto of_source = stream.source.stream->remarks();
    if (!of_source.empty()) remarks[stream.source.id.value] = std::move(of_source);
  }
}

SourceState SourceRole::state_of(const Stream& stream) const {
  if (stream.ended) return SourceState::ended;
  return stream.live ? live_.state(*stream.live) : SourceState::recorded;
}

/// A recording knows from the beginning how many it has.
std::uint64_t SourceRole::hits_so_far(const Stream& stream) const {
  const auto& source = *stream.source.stream;
  const bool whole = stream.ended && told_end(stream) == stream.data_end;
  return whole ? source.hits_read() : source.hits_given();
}

void SourceRole::add_to(RankRecord& record) const {
  auto now = counters();
  now[Metric::hits_read] = 0;
  std::map<std::uint32_t, SourceCounts> counts;
  add_counts(counts);
  for (const auto& [source, of_source] : counts) record.of_sources[source].add(of_source.counters);
  for (const auto& stream : streams_) {
    const std::uint32_t id = stream.source.id.value;
    const auto hits = hits_so_far(stream);
    record.sources[id] = {id, state_of(stream), hits, stream.bytes};
    now[Metric::hits_read] += hits;
  }
  record.counters.add(now);
  for (std::uint32_t b = 0; b < outboxes_.size(); ++b) {
    const auto& outbox = outboxes_[b];
    record.links[b] = {b, outbox.cells_in_use(), outbox.ring_depth(), 0, outbox.counters()[Metric::message_bytes]};
  }
  record.head.slices_sent = slices_sent();
  record.head.slices_expected = slices_expected().value_or(0);
}

std::uint64_t SourceRole::slices_sent() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& stream : streams_) {
    if (!stream.ended) least = std::min(least, lowest(stream).value - settings_.first_slice.value);
  }
  return least == std::numeric_limits<std::uint64_t>::max() ? slices_expected().value_or(0) : least;
}

std::optional<std::uint64_t> SourceRole::slices_expected() const {
  std::uint64_t most = 0;
  for (const auto& stream : streams_) {
    const auto end = expected_end(stream);
    if (!end) return std::nullopt;
    most = std::max(most, *end);
  }
  return most - std::min(most, settings_.first_slice.value);
}

/// While the end of the data is unknown, those that have been read took as many slices for their share of the input as
/// the others will for theirs. At least one is still to come.
std::optional<std::uint64_t> SourceRole::expected_end(const Stream& stream) const {
  if (stream.data_end) return stream.data_end->value;
  const auto share = stream.live ? std::nullopt : stream.source.stream->share_read();
  if (!share) return std::nullopt;
  const auto begin = stream.begin.value;
  const auto begun = std::max(stream.begun_end.value, begin);
  const double slices = *share > 0 ? static_cast<double>(begun - begin) / *share : 0;
  return std::max(begun + 1, begin + static_cast<std::uint64_t>(std::min(slices, kMostSlices)));
}

}  // namespace eventloom
