#include "io/udp/other_boards.hpp"

#include <algorithm>
#include <vector>

#include "core/runtime/format.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

/// More hits than any board sends: larger counts are wrong.
constexpr std::uint64_t kMostSentHits = std::uint64_t{1} << 40;

}  // namespace

bool OtherBoards::take(const Datagram& datagram) {
  const auto& header = datagram.header;
  const std::lock_guard lock(mutex_);
  if (boards_.size() >= kMost && !boards_.contains(header.source)) return false;
  const auto [at, is_new] = boards_.try_emplace(header.source);
  auto& board = at->second;
  if (is_new || board.session != header.session) {
    board = {.session = header.session, .hits_of_earlier_sessions = board.hits()};
  }
  if (header.kind == DatagramKind::data && header.offset == 0) {
    const auto buffer = read_epoch_buffer_header(datagram.contents);
    if (buffer) count(board, buffer->hits_before, buffer->hits_before + buffer->n_hits);
  } else if (header.kind == DatagramKind::mark || header.kind == DatagramKind::end) {
    const auto hits = mark_of(datagram).hits;
    count(board, hits, hits);
  }
  return is_new;
}

void OtherBoards::count(Board& board, std::uint64_t before, std::uint64_t now) {
  if (!board.counted) board.before = board.now = before;
  board.counted = true;
  const auto from = std::min(board.before, before);
  const auto to = std::max(board.now, now);
  if (to - from > kMostSentHits) return;
  board.before = from;
  board.now = to;
}

std::uint64_t OtherBoards::hits() const {
  std::uint64_t hits = 0;
  for (const auto& [source, board] : boards_) hits += board.hits();
  return hits;
}

std::uint64_t OtherBoards::boards() const {
  const std::lock_guard lock(mutex_);
  return boards_.size();
}

Counters OtherBoards::counters() const {
  const std::lock_guard lock(mutex_);
  Counters counters;
  counters[Metric::other_boards] = boards_.size();
  counters[Metric::hits_of_other_boards] = hits();
  return counters;
}

std::string OtherBoards::remark(std::uint32_t first) const {
  const std::lock_guard lock(mutex_);
  if (boards_.empty()) return "";
  std::vector<std::uint32_t> all{first};
  std::vector<std::uint32_t> others;
  for (const auto& [source, board] : boards_) others.push_back(source);
  all.insert(all.end(), others.begin(), others.end());
  std::ranges::sort(all);
  return fmt::format(
      "its URI names no boards, so only board {}, the first heard, is in the run; {} {} sent {} hits to the port, too: "
      "take all with ?sources={}",
      first, others.size() == 1 ? "board" : "boards", joined(others, ", "), hits(), joined(all, ","));
}

}  // namespace eventloom
