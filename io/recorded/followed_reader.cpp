#include "io/recorded/followed_reader.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/files/folder.hpp"

namespace eventloom {

namespace {

bool holds_nothing(const HitBlock& block) { return block.size() == 0 && block.losses.empty(); }

}  // namespace

FollowedReader::FollowedReader(std::unique_ptr<HitReader> reader, Followed followed, std::string path,
                               std::optional<FileOpening> later)
    : chain_(std::move(reader)), followed_(std::move(followed)), path_(std::move(path)), later_(std::move(later)) {}

bool FollowedReader::read(HitBlock& block) {
  while (!chain_.reader().read(block)) {
    const auto next = later_ && !followed_->stopped() ? followed_->next_after(path_) : std::nullopt;
    if (!next) return false;
    if (!later_->can_open(*next) && !followed_->is_final(*next)) break;
    path_ = *next;
    chain_.go_on(later_->open(path_), path_);
  }
  if (holds_nothing(block)) followed_->wait();
  // The stream continues after a file that was cut.
  if (later_ && !block.losses.empty() && followed_->next_after(path_)) FileChain::leave_holes(block);
  return true;
}

std::string await_first_file(FollowedFiles& files, const std::function<bool(const std::string& path)>& can_open) {
  for (bool reported = false;; files.wait()) {
    const auto path = files.next_after("");
    // A recorder removes a file in which it has not even written the header.
    if (path && (can_open(*path) || (files.is_final(*path) && is_there(*path)))) return *path;
    if (stop_signal() != 0) throw UserError("'" + files.pattern() + "': the run was stopped before it had any data");
    if (!std::exchange(reported, true)) log::info("{}: waiting for the first data", files.pattern());
  }
}

}  // namespace eventloom
