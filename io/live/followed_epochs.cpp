#include "io/live/followed_epochs.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/files/found_files.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLongestSearch = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;

/// Throws std::runtime_error that states the defect.
DecodedStreamHeader decode_header_of(FileReader& file) {
  auto decoded =
      decode_stream_header(file.front(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kLongestSearch))));
  if (decoded.first_buffer_offset > file.size()) throw std::runtime_error("the file ends in its header");
  return decoded;
}

}  // namespace

bool has_stream_header(const std::string& path) {
  try {
    FileReader file(path);
    static_cast<void>(decode_header_of(file));
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

FollowedEpochs::FollowedEpochs(const std::string& first, Followed files, std::size_t most_bytes, bool acknowledges)
    : files_(std::move(files)), queue_(most_bytes) {
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
  indexed_ = false;
  try {
    auto decoded = decode_header_of(*file_);
    first_buffer_ = decoded.first_buffer_offset;
    file_->skip(first_buffer_);
    return std::move(decoded.header);
  } catch (const std::runtime_error& error) {
    throw UserError("'" + path + "': " + error.what());
  }
}

void FollowedEpochs::run() {
  try {
    for (auto next = step(); next != Step::stopped; next = step()) {
      if (next == Step::pause) files_->wait();
      if (next == Step::end_of_file && !end_file()) break;
    }
  } catch (const std::exception& error) {
    break_off(0, error.what());
  }
  defect_log_->sum_up();
  ended_ = true;
  queue_.end();
}

/// Continues with the next file, or waits for it. Returns false at the end of the source.
bool FollowedEpochs::end_file() {
  const auto& path = file_->path();
  const bool marked = files_->is_final(path);
  const auto next = files_->stopped() ? std::nullopt : files_->next_after(path);
  if (!next) {
    const bool continues = !marked && indexed_ && has_wildcard(files_->pattern()) && !files_->stopped();
    if (continues) files_->wait();
    return continues;
  }
  if (!has_stream_header(*next) && !files_->is_final(*next)) {
    files_->wait();
    return true;
  }
  return open_next();
}

bool FollowedEpochs::open_next() {
  const auto next = files_->next_after(file_->path());
  if (!next) return false;
  defect_log_->sum_up();
  auto header = open(*next);
  header.text = header_.text;
  if (header == header_) return true;
  throw UserError("'" + *next + "' has another header (clock, payload or source) than the files before it");
}

FollowedEpochs::Step FollowedEpochs::step() {
  if (indexed_) return Step::end_of_file;
  if (file_->awaits(sizeof(EpochBufferHeader))) return Step::pause;
  const auto front = file_->front(sizeof(EpochBufferHeader));
  if (!file_->failure().empty()) {
    break_off(0, file_->failure());
    return Step::stopped;
  }
  if (front.empty()) return Step::end_of_file;
  indexed_ = is_index(front);
  if (indexed_) return Step::end_of_file;
  const auto header = read_epoch_buffer_header(front);
  return header ? take_buffer(*header) : search();
}

/// An index begins with the offset of the first buffer, the trailer of a file without buffers with its magic number.
bool FollowedEpochs::is_index(std::span<const std::byte> front) const {
  std::uint64_t first = 0;
  if (front.size() < sizeof first) return false;
  std::memcpy(&first, front.data(), sizeof first);
  return first == first_buffer_ || first == StreamFileTrailer::kMagic;
}

FollowedEpochs::Step FollowedEpochs::take_buffer(const EpochBufferHeader& header) {
  if (file_->awaits(header.stored_bytes())) return Step::pause;
  if (!file_->failure().empty()) {
    break_off(header.n_hits, file_->failure());
    return Step::stopped;
  }
  if (file_->left() == 0) return Step::end_of_file;
  const auto bytes = file_->front(static_cast<std::size_t>(header.stored_bytes()));
  if (bytes.size() >= header.stored_bytes()) {
    return take_whole(header, bytes.first(static_cast<std::size_t>(header.stored_bytes())));
  }
  const std::string text =
      fmt::format("the file ends in the middle of an epoch buffer of {} bytes", header.stored_bytes());
  ++anomalies_;
  if (!files_->next_after(file_->path())) {
    break_off(header.n_hits, file_->failure().empty() ? text : file_->failure());
    return Step::stopped;
  }
  file_->skip(file_->left());
  return lose({.first_epoch = end_epoch_, .n_hits = header.n_hits}, text) ? Step::going_on : Step::stopped;
}

/// Delivers a whole buffer, or drops it if it is not in order.
FollowedEpochs::Step FollowedEpochs::take_whole(const EpochBufferHeader& header, std::span<const std::byte> stored) {
  const auto offset = file_->offset();
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
                        .file_offset = offset,
                        .n_hits = static_cast<std::uint32_t>(std::min<std::uint64_t>(hits, 0xffffffffU))},
                       fmt::format("epoch buffers {} to {} are missing", next_sequence_, header.sequence - 1));
    }
    if (header.sequence == 0 || next_sequence_ == 0) note_begin(header.first_epoch);
    continues = continues && queue_.push(stored);
    first_epoch_ = first_epoch_.value_or(header.first_epoch);
    end_epoch_ = header.epochs().end;
    queue_.complete_to(end_epoch_);
    queue_.holds_back(first_epoch_, end_epoch_);
  }
  if (header.sequence >= next_sequence_) {
    next_sequence_ = header.sequence + 1;
    next_hits_before_ = header.hits_before + header.n_hits;
  }
  file_->skip(stored.size());
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

/// Skips bytes that are not a buffer. The next buffer reveals what is lost.
FollowedEpochs::Step FollowedEpochs::search() {
  if (file_->awaits(kLongestSearch)) return Step::pause;
  if (file_->left() == 0 && file_->failure().empty()) return Step::end_of_file;
  const auto bytes = file_->front(kLongestSearch);
  ++anomalies_;
  for (std::size_t at = kBufferAlignment; at + sizeof(EpochBufferHeader) <= bytes.size(); at += kBufferAlignment) {
    if (!read_epoch_buffer_header(bytes.subspan(at))) continue;
    report_defect(fmt::format("{} bytes are not an epoch buffer and are skipped", at));
    file_->skip(at);
    return Step::going_on;
  }
  break_off(0, "no epoch buffer, and none follows");
  return Step::stopped;
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
