#include "app/tools/record/source_recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "core/runtime/metrics.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

/// How long to wait for the header of a board that sends data.
constexpr auto kHeaderPatience = std::chrono::seconds(2);

}  // namespace

SourceRecorder::SourceRecorder(OpenedSource source, std::optional<LivePast> past, StreamRecorder& files)
    : stream_(std::move(source.stream)), live_(*source.live), past_(past), files_(files) {}

bool SourceRecorder::turn(Clock::time_point now) {
  if (done_) return false;
  const bool received = live_.receive() != 0;
  if (!begun_ && !may_begin(now)) return received;
  if (!begun_) begin();
  return step() || received;
}

bool SourceRecorder::may_begin(Clock::time_point now) {
  if (live_.peer().known) return true;
  if (!first_data_ && live_.progress().seen_end != 0) first_data_ = now;
  return first_data_ && now - *first_data_ > kHeaderPatience;
}

/// The recording continues after the data of an earlier one.
void SourceRecorder::begin() {
  begun_ = true;
  live_.fix_header();
  files_.begin(live_.header(), live_.peer().known);
  live_.expect(std::numeric_limits<Epoch>::max());
  at_ = past_ ? past_->end : Epoch(0);
  live_.begin({.epoch = at_, .past = past_, .keep = [this](const PeerPlace& place) { files_.keep_place(place); }});
  if (!live_.progress().drained) files_.show_header();
}

void SourceRecorder::finish() {
  if (finishing_) return;
  finishing_ = true;
  live_.finish(std::nullopt);
}

/// While the files cannot be written, data stay in the stream, which stops receiving when it is full.
bool SourceRecorder::step() {
  if (!files_.flush()) return false;
  done_ = ended_;
  if (done_) return true;
  if (const auto now = live_.progress(); finishing_ && now.drained) live_.advance(now.complete, Advance::ended);
  const auto end = live_.end_epoch();
  const EpochRange epochs{at_, end.value_or(live_.progress().received)};
  const bool moved = epochs.end > epochs.begin;
  if (moved) take(epochs);
  if (end) {
    files_.finish();
    ended_ = true;
  }
  files_.flush();
  return moved;
}

/// Takes the buffers and losses that begin in these epochs. Those that only extend into them were taken before.
void SourceRecorder::take(EpochRange epochs) {
  data_.clear();
  live_.collect(epochs, data_);
  std::erase_if(data_.damage, [&](const Damage& damage) { return !epochs.contains(damage.first_epoch); });
  std::size_t used = 0;
  for (auto piece : data_.pieces) {
    auto whole = piece;
    while (const auto header = read_epoch_buffer_header(whole)) {
      if (header->first_epoch >= epochs.begin) break;
      whole = whole.subspan(header->stored_bytes());
    }
    std::size_t length = 0;
    Epoch last = 0;
    while (const auto header = read_epoch_buffer_header(whole.subspan(length))) {
      if (header->first_epoch >= epochs.end) break;
      length += header->stored_bytes();
      last = header->first_epoch;
    }
    if (length == 0) continue;
    const auto lost = std::span(data_.damage).subspan(used);
    const auto until = std::ranges::find_if(lost, [&](const Damage& damage) { return damage.first_epoch > last; });
    files_.add(whole.first(length), lost.first(static_cast<std::size_t>(until - lost.begin())));
    used += static_cast<std::size_t>(until - lost.begin());
  }
  files_.add({}, std::span(data_.damage).subspan(used));
  live_.release_before(epochs.end);
  at_ = epochs.end;
}

std::uint64_t SourceRecorder::unknown_losses() const { return stream_->counts().counters[Metric::unknown_losses]; }

void SourceRecorder::close() {
  const auto before = unknown_losses();
  live_.close();
  if (!past_ || past_->end == 0 || unknown_losses() == before) return;
  const Damage loss{.first_epoch = at_, .n_epochs = 1, .cause = DropCause::lost};
  files_.add({}, std::span(&loss, 1));
  files_.finish();
  files_.flush();
}

void SourceRecorder::give_up() {
  const Epoch end = std::max(live_.progress().seen_end, at_);
  live_.advance(end, Advance::ended);
  take({at_, end});
  files_.finish();
  files_.give_up();
}

}  // namespace eventloom
