#include "core/exchange/inbox.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kCellsAtOnce = 64;
/// About two round trips of a fast network. A longer pause leaves its links idle; a shorter one costs a message a cell.
constexpr std::chrono::microseconds kFarPause(5);

}  // namespace

bool read_chunks(Cell cell, std::vector<Chunk>& chunks) {
  chunks.clear();
  while (!cell.at_end()) {
    const auto chunk = cell.next();
    if (!chunk) return false;
    chunks.push_back(*chunk);
  }
  return true;
}

bool bodies_match(const std::vector<Chunk>& chunks) {
  return std::ranges::all_of(chunks, [](const Chunk& chunk) {
    return chunk.header.has_body_crc == 0 || chunk.header.body_crc == crc32c(chunk.body);
  });
}

Inbox::Inbox(std::vector<RingConsumer> rings, std::uint64_t step)
    : rings_(std::move(rings)), news_(rings_), step_(step) {}

std::size_t Inbox::drain(SliceAssembler& into) {
  std::size_t cells = 0;
  for (const auto ring : news_.changed()) cells += drain(ring, into);
  return cells;
}

std::size_t Inbox::drain(std::size_t number, SliceAssembler& into) {
  auto& ring = rings_[number];
  std::size_t cells = 0;
  for (auto cell = ring.poll(); cell; cell = ring.poll()) {
    const bool proven = cells < kCellsAtOnce && read_chunks(*cell, chunks_) && bodies_match(chunks_);
    if (!proven) {
      if (cells < kCellsAtOnce) ring.wait_for_proof();
      news_.look_again(number);
      break;
    }
    for (const auto& chunk : chunks_) place(chunk, into);
    ring.release();
    ++cells;
  }
  if (cells == 0) return 0;
  ring.grant(false);
  if (ring.owes()) (ring.is_near() ? owing_ : owing_far_).insert(number);
  return cells;
}

void Inbox::place(const Chunk& chunk, SliceAssembler& into) const {
  const auto& header = chunk.header;
  if (header.of_slice() && header.slice >= slice_limit_.value) {
    throw std::runtime_error("exchange: slice " + std::to_string(header.slice) + " of origin " +
                             std::to_string(header.origin) + " was sent beyond the granted slice limit");
  }
  into.place(header, chunk.body);
}

void Inbox::grant(SliceId slice_limit, bool eager) {
  const auto before = slice_limit_;
  slice_limit_ = std::max(slice_limit_, slice_limit);
  if (slice_limit_.value - far_limit_.value >= step_) far_limit_ = slice_limit_;
  if (slice_limit_ != before) grant_all();
  if (!eager) return;
  for (const auto ring : owing_) rings_[ring].grant(true);
  owing_.clear();
}

void Inbox::grant_far(SteadyTime now) {
  if (owing_far_.empty()) return;
  if (!owing_since_) owing_since_ = now;
  if (now < due()) return;
  for (const auto ring : owing_far_) rings_[ring].grant(true);
  owing_far_.clear();
  owing_since_.reset();
}

Inbox::SteadyTime Inbox::due() const { return owing_since_ ? *owing_since_ + kFarPause : SteadyTime::max(); }

void Inbox::grant_all() {
  for (auto& ring : rings_) {
    ring.set_slice_limit((ring.is_near() ? slice_limit_ : far_limit_).value);
    ring.grant(false);
  }
}

}  // namespace eventloom
