#include "core/engine/source_stream.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

namespace {

/// Limits on what one source sends before the others take their turn and the receivers are notified.
constexpr std::size_t kTransfersPerTurn = 64;
constexpr std::uint64_t kBytesPerTurn = std::uint64_t{256} << 10;

}  // namespace

SourceStream::SourceStream(SharedBySources& shared, std::size_t number, LocalSource source)
    : shared_(shared),
      number_(number),
      data_(std::move(source), shared.settings),
      cursor_(shared.scheduler, shared.settings),
      slots_(shared.scheduler, data_.id(), shared.settings.max_lead),
      ready_(shared.settings.n_builders),
      start_(data_.id().value),
      begun_end_(shared.settings.first_slice),
      released_(shared.settings.first_slice),
      reported_end_(shared.settings.n_builders) {
  if (data_.live() != nullptr) live_ = shared_.live.add(data_.id(), *data_.live(), data_.lead());
  data_.begin();
}

std::size_t SourceStream::serve() {
  cursor_.learn_claims();
  if (keeps_ready()) {
    const SliceId lowest = cursor_.lowest();
    for (std::size_t b = 0; b < ready_.size(); ++b) update_ready(b, lowest);
  }
  if (still_waits()) return 0;
  const std::uint64_t bytes_before = bytes();
  SourceView view{data_.id(), cursor_.all(), readiness(), end_now(), start_};
  for (std::size_t n = 0; n < kTransfersPerTurn; ++n) {
    auto builder = shared_.scheduler.choose(view);
    if (!builder) builder = out_of_order();
    if (builder && shared_.messages.is_full(number_)) {
      waiting_ = builder;
      return n;
    }
    if (!builder || !send(*builder)) return n + send_ends();
    if (bytes() - bytes_before > kBytesPerTurn) return n + 1;
    if (keeps_ready()) update_ready(builder->value, cursor_.lowest());
    view.end = end_now();
    view.start = start_;
  }
  return kTransfersPerTurn;
}

/// A live stream that is full cannot take in the slice that the schedule would send next, so the source sends its
/// lowest one.
std::optional<BuilderId> SourceStream::out_of_order() const {
  if (!live_ || data_.live()->progress().listens) return std::nullopt;
  const auto all = cursor_.all();
  const auto lowest = std::ranges::find(all, cursor_.lowest());
  const auto builder = static_cast<std::size_t>(lowest - all.begin());
  if (lowest == all.end() || ready_[builder] == 0) return std::nullopt;
  return BuilderId{static_cast<std::uint32_t>(builder)};
}

/// The last turn had too many messages in flight to send another, and that has not changed.
bool SourceStream::still_waits() {
  if (waiting_ && !(shared_.messages.is_full(number_) && readiness()(*waiting_))) waiting_.reset();
  return waiting_.has_value();
}

bool SourceStream::may_go(std::size_t builder, SliceId lowest) const {
  const SliceId slice = cursor_[builder];
  return slice < end_now() && slice.value - lowest.value <= shared_.settings.max_lead &&
         shared_.messages.accepts(builder, slice) && (live_ || shared_.pace.is_recorded(slice));
}

/// With live sources or slots, examines the next slice of every builder in every turn: moves its slot after a gap,
/// finds when to take the next turn, or gives up late data. Otherwise may_go() is asked only for the builders that the
/// scheduler considers.
void SourceStream::update_ready(std::size_t builder, SliceId lowest) {
  const SliceId slice = cursor_[builder];
  auto& pace = shared_.pace;
  if (slots_.after_gap() && shared_.messages.accepts(builder, slice)) slots_.leave_out(slice, pace.since_start());
  bool ready = may_go(builder, lowest);
  if (ready && pace.has_slots()) {
    const auto wait = slots_.begin_of(slice) - pace.since_start();
    ready = wait <= 0;
    if (!ready) pace.wake_after(wait);
  }
  if (ready && live_) ready = shared_.live.request(*live_, data_.sent_epochs(slice));
  ready_[builder] = ready ? 1 : 0;
}

std::function<bool(BuilderId)> SourceStream::readiness() const {
  if (keeps_ready()) return [this](BuilderId b) { return ready_[b.value] != 0; };
  return [this](BuilderId b) { return may_go(b.value, cursor_.lowest()); };
}

/// Returns false if the stream turns out to end before the slice. A slice without data is sent as a gap up to the
/// stream's next data.
bool SourceStream::send(BuilderId builder) {
  const SliceId lowest = cursor_.lowest();
  const SliceId slice = cursor_[builder.value];
  auto& messages = shared_.messages;
  const bool any = data_.collect(slice, messages.prepare(number_, builder.value, slice));
  if (slice >= data_.send_end()) return false;
  const SliceRange sent{slice, any ? SliceId{slice.value + 1} : data_.gap().end};
  if (any) {
    begun_end_ = std::max(begun_end_, sent.end);
    const bool has_more = !data_.data_end() || slice < *data_.data_end();
    messages.send(data_.id(), builder.value, has_more, lowest);
  } else {
    messages.send_gap(data_.id(), builder.value, sent, data_.gap_damage(), lowest);
  }
  slots_.count(slice, !any, shared_.pace.since_start());
  cursor_.advance(builder.value, sent.end);
  start_ = builder.value + 1;
  return true;
}

std::size_t SourceStream::send_ends() {
  if (cursor_.lowest() < data_.send_end() || data_.send_end() == kNoSlice) return 0;
  std::size_t reported = 0;
  bool all = true;
  for (std::size_t b = 0; b < reported_end_.size(); ++b) {
    if (!shared_.settings.serves(b)) continue;
    if (reported_end_[b] == 0 && shared_.messages.send_end(data_.id(), b, data_.reported_end(), data_.tail())) {
      reported_end_[b] = 1;
      ++reported;
    }
    all = all && reported_end_[b] != 0 && shared_.messages.outboxes()[b].free();
  }
  ended_ = all;
  return reported + (all ? 1 : 0);
}

void SourceStream::end_at(SliceId end) {
  const auto run_end = data_.end_at(end);
  if (live_) shared_.live.end_at(*live_, run_end);
}

void SourceStream::release_sent() {
  const auto sent = std::min(cursor_.lowest(), shared_.messages.first_needed(number_, kNoSlice));
  const auto first = return_loans(sent);
  if (first == released_) return;
  released_ = first;
  data_.release_before(first);
}

/// Returns the first slice not to be released. The loans of a builder that is far behind would keep all later data in
/// memory; a live stream could then not take in the data that the others are waiting for.
SliceId SourceStream::return_loans(SliceId sent) {
  auto* lent = shared_.settings.lent;
  const auto first = lent == nullptr ? sent : lent->first(data_.id().value, sent);
  if (first >= sent) return sent;
  const bool crowded = live_ && data_.live()->progress().crowded_before <= data_.sent_epochs(sent).begin;
  const auto lead = std::min(sent, begun_end_).value - first.value;
  if (!crowded && lead <= shared_.settings.max_lead) return first;
  lent->recall(data_.id().value);
  return sent;
}

}  // namespace eventloom
