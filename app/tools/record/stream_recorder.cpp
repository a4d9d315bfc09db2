#include "app/tools/record/stream_recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/durable.hpp"
#include "io/live/full_mark.hpp"

namespace eventloom {

namespace {

/// Bytes written at once.
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

Epoch end_of_past(const EarlierRecording& earlier) { return earlier.past ? earlier.past->end : Epoch(0); }

}  // namespace

StreamRecorder::StreamRecorder(RecordNames names, std::uint32_t source, std::string uri, EarlierRecording earlier,
                               Limits limits, KeptFiles& kept)
    : names_(std::move(names)),
      source_(source),
      uri_(std::move(uri)),
      limits_(limits),
      kept_(kept),
      header_(std::move(earlier.header)),
      losses_(end_of_past(earlier)),
      next_number_(earlier.next_number),
      end_before_(end_of_past(earlier)),
      left_out_(earlier.left_out) {
  if (earlier.past) {
    hits_before_ = earlier.past->hits - left_out_;
    place_ = earlier.past->place;
  }
}

void StreamRecorder::show_header() {
  if (next_number_ == 0) open_next();
}

void StreamRecorder::keep_place(const PeerPlace& place) { place_ = place; }

void StreamRecorder::add(std::span<const std::byte> buffers, std::span<const Damage> damage) {
  losses_.add(buffers, damage, [this](auto stored) { added_.insert(added_.end(), stored.begin(), stored.end()); });
}

void StreamRecorder::finish() {
  losses_.finish([this](auto stored) { added_.insert(added_.end(), stored.begin(), stored.end()); });
  finishing_ = true;
}

/// The state is written first, so that it never lacks an existing file.
bool StreamRecorder::flush() {
  for (;;) {
    if (!save_state() || (file_ && !write_file())) return false;
    if (file_ && ended_) {
      shelve();
    } else if (at_ < added_.size()) {
      file_ ? place_batch() : open_next();
    } else if (finishing_ && file_) {
      end_file();
    } else {
      break;
    }
  }
  added_.clear();
  at_ = 0;
  unblocked();
  return true;
}

bool StreamRecorder::write_file() {
  const int error = file_->write();
  return error == 0 || blocked("cannot write '" + file_->path().string() + "': " + std::strerror(error));
}

void StreamRecorder::open_next() {
  file_number_ = next_number_;
  file_.emplace(names_.data(next_number_++), *header_);
  ended_ = false;
  ++files_;
  kept_.grow(file_->layout().bytes());
}

void StreamRecorder::end_file() {
  kept_.grow(file_->layout().bytes_of_end(0));
  file_->end();
  ended_ = true;
}

void StreamRecorder::place_batch() {
  std::size_t batch = 0;
  while (at_ < added_.size() && batch < kBatchBytes) {
    const auto rest = std::span(added_).subspan(at_);
    const auto header = read_epoch_buffer_header(rest);
    const auto stored = header->stored_bytes();
    if (is_full_for(stored)) return end_file();
    kept_.grow(stored);
    file_->place(rest.first(stored));
    at_ += stored;
    batch += stored;
    ++buffers_;
    bytes_ += stored;
    if (header->n_words != 0) hits_ += header->n_hits;
  }
}

bool StreamRecorder::is_full_for(std::uint64_t stored) const {
  const auto& layout = file_->layout();
  if (layout.buffers() == 0) return false;
  return layout.buffers() >= limits_.buffers || layout.bytes() + stored + layout.bytes_of_end(1) > limits_.bytes;
}

/// The file is complete.
void StreamRecorder::shelve() {
  const auto& layout = file_->layout();
  hits_before_ += layout.hits();
  end_before_ = std::max(end_before_, layout.end_epoch());
  kept_.add({source_, file_number_, file_->path(), layout.bytes(), layout.hits()}, true);
  if (const int error = finishing_ ? file_->sync() : 0; error != 0) {
    log::error("'{}' may not be on disk: {}", file_->path().string(), std::strerror(error));
    on_disk_ = false;
  }
  file_.reset();
}

RecordState StreamRecorder::state_now() const {
  const auto number = file_ ? file_number_ : next_number_;
  return {uri_, number, hits_before_, end_before_, left_out_ + losses_.hits_left_out(), place_};
}

bool StreamRecorder::save_state() {
  auto now = state_now();
  if (saved_ == now) return true;
  try {
    write_record_state(names_.state(), now);
  } catch (const UserError& error) {
    return blocked(error.what());
  }
  saved_ = std::move(now);
  return true;
}

bool StreamRecorder::blocked(const std::string& why) {
  const auto now = Clock::now();
  if (!blocked_since_) {
    log::error("{}; data wait until there is room: at most --live-buffer here, then in the senders", why);
    blocked_since_ = now;
  }
  if (now - marked_full_ >= kFullMarkEvery) {
    renew_full_mark(names_.full_mark());
    marked_full_ = now;
  }
  return false;
}

void StreamRecorder::unblocked() {
  if (!blocked_since_) return;
  const auto waited = std::chrono::duration<double>(Clock::now() - *blocked_since_);
  log::warn("{}.*: there is room again after {:.1f} s", names_.stem(), waited.count());
  remove_full_mark(names_.full_mark());
  blocked_since_.reset();
}

void StreamRecorder::give_up() {
  hits_unwritten_ = file_ ? file_->give_up() : 0;
  hits_ -= hits_unwritten_;
  while (const auto header = read_epoch_buffer_header(std::span(added_).subspan(at_))) {
    hits_unwritten_ += header->n_words != 0 ? header->n_hits : 0;
    at_ += header->stored_bytes();
  }
  log::error("{}.*: {} hits could not be written, and are lost", names_.stem(), hits_unwritten_);
  file_.reset();
  added_.clear();
  // The mark stays for a run that follows: see FullMark.
  if (hits_unwritten_ == 0) remove_full_mark(names_.full_mark());
}

bool StreamRecorder::mark_end() {
  const Descriptor mark(::open(names_.end_mark().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!mark.is_open()) {
    log::error("cannot create '{}': {}", names_.end_mark().string(), std::strerror(errno));
    return false;
  }
  return on_disk_;
}

}  // namespace eventloom
