#include "io/live/followed_epochs.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/files/folder.hpp"
#include "io/files/found_files.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

FollowedEpochs::FollowedEpochs(const std::string& first, Followed files, std::size_t most_bytes, bool acknowledges)
    : files_(std::move(files)), queue_(most_bytes), full_mark_(first) {
  if (acknowledges) acknowledgement_.emplace(first);
  header_ = open(first);
  thread_ = std::thread([this] { run(); });
}

FollowedEpochs::~FollowedEpochs() {
  files_->stop();
  queue_.stop();
  thread_.join();
}

/// Returns the header of the file.
StreamHeader FollowedEpochs::open(const std::string& path) {
  file_.emplace(path, files_);
  defect_log_.emplace(path);
  next_sequence_ = next_hits_before_ = 0;
  return file_->header();
}

void FollowedEpochs::run() {
  try {
    for (auto next = step(); next != Step::stopped; next = step()) {
      if (next == Step::pause) wait();
      if (next == Step::end_of_file && !end_file()) break;
    }
  } catch (const std::exception& error) {
    break_off(0, error.what());
  }
  defect_log_->sum_up();
  ended_ = true;
  queue_.end();
}

void FollowedEpochs::wait() {
  queue_.hold_up(full_mark_.is_fresh(std::chrono::steady_clock::now()));
  files_->wait();
}

/// Continues with the next file, or waits for it. Returns false at the end of the source.
bool FollowedEpochs::end_file() {
  const auto& path = file_->path();
  const bool marked = files_->is_final(path);
  const auto next = files_->stopped() ? std::nullopt : files_->next_after(path);
  if (!next) {
    const bool continues = !marked && file_->has_index() && has_wildcard(files_->pattern()) && !files_->stopped();
    if (continues) {
      wait();
    } else if (full_mark_.is_left(marked, std::chrono::steady_clock::now())) {
      ++unknown_losses_;
      report_defect("its recorder ended while the disk was full: an unknown number of hits after it is missing");
    }
    return continues;
  }
  const bool is_final = files_->is_final(*next);  // before its header is read
  // A recorder removes a file in which it has not even written the header.
  if (has_stream_header(*next) || (is_final && is_there(*next))) {
    open_next(*next);
  } else {
    wait();
  }
  return true;
}

void FollowedEpochs::open_next(const std::string& next) {
  defect_log_->sum_up();
  auto header = open(next);
  header.text = header_.text;
  if (header == header_) return;
  throw UserError("'" + next + "' has another header (clock, payload or source) than the files before it");
}

FollowedEpochs::Step FollowedEpochs::step() {
  using Item = FollowedStreamFile::Item;
  switch (file_->next()) {
    case Item::buffer: return take_buffer(*read_epoch_buffer_header(file_->stored()));
    case Item::gap: break;  // the next buffer reveals what is lost
    case Item::pause: return Step::pause;
    case Item::end: return Step::end_of_file;
    case Item::cut: return take_cut();
    case Item::broken: break_off(0, file_->defect()); return Step::stopped;
  }
  ++anomalies_;
  report_defect(file_->defect());
  return Step::going_on;
}

/// The end of the file is lost.
FollowedEpochs::Step FollowedEpochs::take_cut() {
  if (!files_->next_after(file_->path())) {
    break_off(file_->hits_cut(), file_->defect());
    return Step::stopped;
  }
  ++anomalies_;
  return lose({.first_epoch = end_epoch_, .n_hits = file_->hits_cut()}, file_->defect()) ? Step::going_on
                                                                                         : Step::stopped;
}

/// Delivers the buffer, or drops it if it is not in order.
FollowedEpochs::Step FollowedEpochs::take_buffer(const EpochBufferHeader& header) {
  const bool timed = header.epochs().end - 1 <= max_epoch(header_.base.epoch_ticks);
  bool continues = true;
  if (!timed || header.sequence < next_sequence_ || header.first_epoch < end_epoch_) {
    const auto cause = !timed                             ? DropCause::corrupt
                       : header.sequence < next_sequence_ ? DropCause::duplicate
                                                          : DropCause::out_of_order;
    continues = lose({.first_epoch = end_epoch_, .n_hits = header.n_hits, .cause = cause},
                     fmt::format("an epoch buffer of {} hits from epoch {} is not in order", header.n_hits,
                                 header.first_epoch.value));
  } else {
    if (header.sequence > next_sequence_) {
      const auto hits = header.hits_before - std::min(header.hits_before, next_hits_before_);
      continues = lose({.first_epoch = end_epoch_,
                        .n_epochs = header.first_epoch - end_epoch_,
                        .file_offset = file_->offset(),
                        .n_hits = static_cast<std::uint32_t>(std::min<std::uint64_t>(hits, 0xffffffffU))},
                       fmt::format("epoch buffers {} to {} are missing", next_sequence_, header.sequence - 1));
    }
    if (header.sequence == 0 || next_sequence_ == 0) note_begin(header.first_epoch);
    if (is_unknown_loss(header)) ++unknown_losses_;
    continues = continues && queue_.push(file_->stored());
    first_epoch_ = first_epoch_.value_or(header.first_epoch);
    end_epoch_ = header.epochs().end;
    queue_.complete_to(end_epoch_);
    queue_.holds_back(first_epoch_, end_epoch_);
  }
  if (header.sequence >= next_sequence_) {
    next_sequence_ = header.sequence + 1;
    next_hits_before_ = header.hits_before + header.n_hits;
  }
  return continues ? Step::going_on : Step::stopped;
}

/// The file that is read begins with this epoch.
void FollowedEpochs::note_begin(Epoch epoch) {
  const auto number = acknowledgement_ ? Acknowledgement::number_of(file_->path()) : std::nullopt;
  if (!number) return;
  const std::lock_guard lock(begun_mutex_);
  begun_.push_back({*number, epoch});
}

/// The file in which this epoch may lie is still needed; those before it are not, nor is the last one, once all of it
/// has been read.
void FollowedEpochs::safe_before(Epoch epoch) {
  if (!acknowledgement_) return;
  std::optional<std::uint64_t> needed;
  {
    const std::lock_guard lock(begun_mutex_);
    while (begun_.size() > 1 && begun_[1].first_epoch <= epoch) begun_.pop_front();
    if (!begun_.empty() && begun_.front().first_epoch <= epoch) needed = begun_.front().number;
  }
  if (!needed) return;
  const bool all = epoch >= kForever && ended_ && !broken_off_;
  acknowledgement_->write(*needed + (all ? 1 : 0));
}

SourceCounts FollowedEpochs::counts() const {
  SourceCounts counts;
  counts.counters[Metric::unknown_losses] = unknown_losses_;
  return counts;
}

void FollowedEpochs::report_defect(const std::string& text) {
  defect_log_->say(Defect::damage, file_->offset(), [&] { return text; });
}

/// Returns false after FeedQueue::stop().
bool FollowedEpochs::lose(Damage damage, const std::string& text) {
  report_defect(text);
  return queue_.push({}, {&damage, 1});
}

/// Ends the source although more data were expected.
void FollowedEpochs::break_off(std::uint32_t hits, const std::string& text) {
  ++anomalies_;
  broken_off_ = true;
  lose({.first_epoch = end_epoch_, .n_epochs = kForever, .n_hits = hits}, text + "; no more of it is read");
}

}  // namespace eventloom
