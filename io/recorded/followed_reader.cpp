#include "io/recorded/followed_reader.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace {

bool holds_nothing(const HitBlock& block) { return block.size() == 0 && block.losses.empty(); }

}  // namespace

FollowedReader::FollowedReader(std::unique_ptr<HitReader> reader, Followed followed, std::string path,
                               std::optional<FileOpening> later)
    : reader_(std::move(reader)),
      followed_(std::move(followed)),
      path_(std::move(path)),
      later_(std::move(later)),
      header_(reader_->header()) {}

bool FollowedReader::read(HitBlock& block) {
  while (!reader_->read(block)) {
    const auto next = later_ && !followed_->stopped() ? followed_->next_after(path_) : std::nullopt;
    if (!next) return false;
    if (!later_->can_open(*next) && !followed_->is_final(*next)) break;
    open(*next);
  }
  if (holds_nothing(block)) followed_->wait();
  // The stream continues after a file that was cut.
  const bool continues = later_ && !block.losses.empty() && followed_->next_after(path_).has_value();
  for (auto& loss : block.losses) {
    if (!continues || !loss.breaks_off) continue;
    loss.breaks_off = false;
    loss.leaves_hole = true;
  }
  return true;
}

void FollowedReader::open(const std::string& path) {
  counters_before_.add(reader_->counts().counters);
  anomalies_before_ += reader_->anomalies();
  reader_ = later_->open(path);
  path_ = path;
  const auto& header = reader_->header();
  if (header.payload != header_.payload || header.flags != header_.flags ||
      header.payload_names != header_.payload_names) {
    throw UserError("'" + path + "' has other columns than the files before it");
  }
}

SourceCounts FollowedReader::counts() const {
  auto counts = reader_->counts();
  counts.counters.add(counters_before_);
  return counts;
}

std::string await_first_file(FollowedFiles& files, const std::function<bool(const std::string& path)>& can_open) {
  for (bool reported = false;; files.wait()) {
    const auto path = files.next_after("");
    if (path && (can_open(*path) || files.is_final(*path))) return *path;
    if (stop_signal() != 0) throw UserError("'" + files.pattern() + "': the run was stopped before it had any data");
    if (!std::exchange(reported, true)) log::info("{}: waiting for the first data", files.pattern());
  }
}

}  // namespace eventloom
