#include "io/event_files/event_file_writer.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/hld.hpp"
#include "io/files/folder.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

namespace {

/// Bytes per write: large enough for parallel file systems, small enough to stay in a cache.
constexpr std::size_t kPendingEvents = std::size_t{1} << 20;
/// Readers treat longer events as damage.
constexpr std::size_t kLongestEvent = std::min<std::size_t>(kMaxLmdEventBytes, kHldMaxBytes);

bool is_among(const std::vector<std::uint32_t>& triggers, std::uint32_t trigger) {
  return std::ranges::find(triggers, trigger) != triggers.end();
}

}  // namespace

EventFileWriter::EventFileWriter(std::unique_ptr<EventFormat> format, EventFilesSettings settings,
                                 std::function<void(CompleteEventFile)> take)
    : format_(std::move(format)),
      settings_(std::move(settings)),
      take_(std::move(take)),
      next_file_(settings_.first_file),
      next_event_(settings_.first_event) {}

std::filesystem::path EventFileWriter::path_of(std::uint32_t number) const {
  return settings_.folder / format_->file_name(number);
}

void EventFileWriter::begin() {
  const auto path = path_of(next_file_);
  if (!settings_.replace && is_there(path)) {
    throw UserError("'" + path.string() + "' exists; use --force to replace it, or choose another name");
  }
  file_ = std::make_unique<PartialFile>(path, format_->ours());
  info_ = {path.filename().string(), next_file_, 0, 0};
  format_->begin_file(next_file_, pending_);
  // Written at once: the header identifies the file as ours.
  flush();
}

void EventFileWriter::flush() {
  file_->write(pending_);
  info_.bytes += pending_.size();
  pending_.clear();
}

bool EventFileWriter::append(const EventHits& event) {
  const auto before = pending_.size();
  const auto trigger = format_->append(event, next_event_, pending_);
  refuse_long(event.time, pending_.size() - before);
  ++next_event_;
  ++info_.events;
  const bool begins = after_end_ || is_among(settings_.triggers.begin, trigger);
  after_end_ = is_among(settings_.triggers.end, trigger);
  return begins;
}

void EventFileWriter::refuse_long(Tick time, std::size_t bytes) const {
  if (bytes <= kLongestEvent) return;
  throw UserError(fmt::format("'{}': the event at {} would have {} bytes; an event of such a file has at most {}",
                              file_->path().string(), time.value, bytes, kLongestEvent));
}

bool EventFileWriter::is_too_long() const {
  return settings_.most_bytes != 0 && info_.bytes + pending_.size() + format_->end_bytes() > settings_.most_bytes;
}

void EventFileWriter::write(const EventHits& event) {
  const auto before = pending_.size();
  const bool begins = append(event);
  if (info_.events > 1 && (begins || is_too_long())) {
    pending_.resize(before);
    --next_event_;
    --info_.events;
    end();
    begin();
    append(event);
  }
  if (pending_.size() >= kPendingEvents) flush();
}

bool EventFileWriter::write(const BuiltSlice& slice) {
  if (pending_.size() >= kPendingEvents) flush();
  before_slice_ = {pending_.size(), info_.events, after_end_};
  cut_ = false;
  const bool first = info_.events == 0;
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) {
    if (first) {
      write(event);
    } else if (append(event)) {
      cut_ = true;
    }
  }
  if (first || cut_ || !is_too_long()) return true;
  take_back();
  return false;
}

void EventFileWriter::settle(const BuiltSlice& slice) {
  if (!std::exchange(cut_, false)) return;
  take_back();
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) write(event);
}

void EventFileWriter::take_back() {
  pending_.resize(before_slice_.pending);
  next_event_ -= info_.events - before_slice_.events;
  info_.events = before_slice_.events;
  after_end_ = before_slice_.after_end;
}

void EventFileWriter::end() {
  format_->end_file(pending_);
  flush();
  ++next_file_;
  take_({std::move(file_), std::move(info_)});
}

void EventFileWriter::abandon() {
  file_.reset();
  pending_.clear();
}

}  // namespace eventloom
