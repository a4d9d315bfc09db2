#include "io/event_files/event_files.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/hld.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

namespace {

/// Large enough for parallel file systems; events are appended to what is in a cache.
constexpr std::size_t kPendingEvents = std::size_t{1} << 20;
/// Readers take longer events for damage.
constexpr std::size_t kLongestEvent = std::min<std::size_t>(kMaxLmdEventBytes, kHldMaxBytes);

}  // namespace

EventFiles::EventFiles(std::unique_ptr<EventFormat> format, EventFilesSettings settings)
    : format_(std::move(format)), settings_(std::move(settings)) {
  begin_file();
}

std::filesystem::path EventFiles::next_path() const {
  return settings_.folder / format_->file_name(static_cast<std::uint32_t>(summary_.files.size()));
}

void EventFiles::begin_file() {
  const auto path = next_path();
  std::error_code error;
  if (!settings_.replace && std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
    throw UserError("'" + path.string() + "' exists; use --force to replace it, or choose another name");
  }
  file_.emplace(path, format_->ours());
  file_bytes_ = file_events_ = 0;
  format_->begin_file(static_cast<std::uint32_t>(summary_.files.size()), pending_);
  // The beginning identifies the file.
  write_pending();
}

void EventFiles::write_pending() {
  file_->write(pending_);
  file_bytes_ += pending_.size();
  pending_.clear();
}

void EventFiles::write(const EventHits& event) {
  const auto before = pending_.size();
  format_->append(event, summary_.events + 1, pending_);
  refuse_long(event, pending_.size() - before);
  const auto bytes = file_bytes_ + pending_.size() + format_->end_bytes();
  if (settings_.most_bytes != 0 && bytes > settings_.most_bytes && file_events_ != 0) {
    pending_.resize(before);
    end_file();
    begin_file();
    format_->append(event, summary_.events + 1, pending_);
  }
  ++summary_.events;
  ++file_events_;
  if (pending_.size() >= kPendingEvents) write_pending();
}

void EventFiles::refuse_long(const EventHits& event, std::size_t bytes) const {
  if (bytes <= kLongestEvent) return;
  throw UserError(fmt::format("'{}': the event at {} would have {} bytes; an event of such a file has at most {}",
                              file_->path().string(), event.time, bytes, kLongestEvent));
}

void EventFiles::end_file() {
  const auto path = next_path();
  format_->end_file(pending_);
  write_pending();
  file_->sync();
  file_->publish();
  file_.reset();
  summary_.bytes += file_bytes_;
  summary_.files.push_back(path);
}

EventFilesSummary EventFiles::finish() {
  end_file();
  std::error_code error;
  for (auto beyond = summary_.files.size(); settings_.replace; ++beyond) {
    const auto path = settings_.folder / format_->file_name(static_cast<std::uint32_t>(beyond));
    if (!std::filesystem::exists(path, error)) break;
    remove_own(path, format_->ours());
  }
  return summary_;
}

}  // namespace eventloom
