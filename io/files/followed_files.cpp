#include "io/files/followed_files.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "io/files/found_files.hpp"
#include "io/files/natural_order.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Changes made on other hosts of a shared file system are not reported.
constexpr int kLongestWait_ms = 20;
/// The interval of looking if the kernel reports nothing.
constexpr int kShortWait_ms = 2;

fs::path end_mark_of(const fs::path& file) {
  const auto name = file.filename().string();
  return file.parent_path() / (name.substr(0, name.find('.')) + ".end");
}

Descriptor watch_folder_of(const std::string& pattern) {
  const auto parent = fs::path(pattern).parent_path();
  Descriptor changes(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
  const auto folder = parent.empty() ? fs::path(".") : parent;
  if (changes.is_open() && ::inotify_add_watch(changes.number(), folder.c_str(), kChanges) < 0) changes.reset();
  return changes;
}

}  // namespace

FollowedFiles::FollowedFiles(std::string pattern) : pattern_(std::move(pattern)), changes_(watch_folder_of(pattern_)) {}

std::optional<std::string> FollowedFiles::next_after(const std::string& path) const {
  const auto files = found_files(pattern_);
  const auto next = std::ranges::find_if(files, [&](const auto& file) { return comes_before(path, file); });
  return next == files.end() ? std::nullopt : std::optional(*next);
}

bool FollowedFiles::is_final(const std::string& path) const {
  std::error_code error;
  return fs::exists(end_mark_of(path), error) || next_after(path).has_value();
}

void FollowedFiles::wait() {
  pollfd changed{changes_.number(), POLLIN, 0};  // a negative descriptor is ignored
  if (::poll(&changed, 1, changes_.is_open() ? kLongestWait_ms : kShortWait_ms) <= 0) return;
  alignas(inotify_event) std::array<std::byte, 4096> events{};
  while (::read(changes_.number(), events.data(), events.size()) > 0) {
  }
}

std::string follow_defect(const InputHandle& file, std::uint64_t known, bool is_final) {
  switch (file.place()) {
    case InputHandle::Place::replaced: return "the file was replaced by another while it was followed";
    case InputHandle::Place::removed:
      if (!is_final) return "the file was removed while it was followed";
      break;
    case InputHandle::Place::same: break;
  }
  return file.size_now().value_or(known) < known ? "the file became shorter while it was followed" : "";
}

}  // namespace eventloom
