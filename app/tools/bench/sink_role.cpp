#include "app/tools/bench/sink_role.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/exchange/inbox.hpp"
#include "formats/markers.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kCellsAtOnce = 64;
constexpr std::uint64_t kEnded = std::numeric_limits<std::uint64_t>::max();

}  // namespace

SinkRole::SinkRole(SinkSettings settings, Scheduler& scheduler, std::vector<RingConsumer> rings)
    : settings_(std::move(settings)),
      scheduler_(scheduler),
      rings_(std::move(rings)),
      counts_(settings_.senders.size()),
      upto_(settings_.senders.size()),
      last_(settings_.start) {
  for (std::size_t s = 0; s < upto_.size(); ++s) {
    if (settings_.senders[s] == 0) upto_[s] = kEnded;
  }
  n_senders_ = static_cast<std::uint32_t>(std::ranges::count(settings_.senders, 1));
  for (auto& ring : rings_) ring.set_slice_limit(kNoSlice.value);
  limit_lead();
  for (auto& ring : rings_) ring.grant(true);
  report_claims();
}

/// With a build time, a builder holds back sources that are ahead of the others, as in a run. Without one, only its
/// rings limit them.
void SinkRole::limit_lead() {
  if (settings_.build_time.count() == 0 || settings_.claims != nullptr) return;
  const std::uint64_t ahead = std::uint64_t{settings_.slices_in_flight} * settings_.senders.size();
  for (auto& ring : rings_) ring.set_slice_limit(scheduler_.next_slice(settings_.id, from_)->value + ahead);
}

std::size_t SinkRole::do_work(SteadyTime now) {
  now_ = now;
  if (now < busy_until_ || done()) return 0;
  bin_ = static_cast<std::size_t>(std::chrono::duration<double>(now - settings_.start).count() / settings_.bin_seconds);
  std::size_t cells = 0;
  for (auto& ring : rings_) {
    for (std::size_t i = 0; i < kCellsAtOnce; ++i) {
      const auto cell = ring.poll();
      if (!cell) break;
      if (!read_chunks(*cell, chunks_) || (!ring.is_near() && !bodies_match(chunks_))) {
        ring.wait_for_proof();
        break;
      }
      for (const auto& chunk : chunks_) take_chunk(chunk.header, chunk.body);
      ring.release();
      ++cells;
      finish_slices();
      if (now < busy_until_) break;
    }
    ring.grant(cells == 0);
  }
  if (cells != 0) limit_lead();
  if (cells != 0) last_ = now;
  return cells;
}

void SinkRole::take_chunk(const ChunkHeader& header, std::span<const std::byte> body) {
  auto& count = counts_[header.origin];
  if (header.kind == ChunkHeader::kEnd) {
    upto_[header.origin] = kEnded;
    if (++n_ended_ == n_senders_) report_claims();
    return;
  }
  seen_end_ = std::max(seen_end_, SliceId{header.slice + 1});
  count.bytes += header.bytes;
  if (bin_ >= count.bytes_over_time.size()) count.bytes_over_time.resize(bin_ + 1);
  count.bytes_over_time[bin_] += header.bytes;
  use(header, body);
  if (!header.last()) return;
  if (settings_.times != nullptr) settings_.times->received(header.origin, header.slice);
  ++count.messages;
  upto_[header.origin] = header.slice + 1;
}

void SinkRole::use(const ChunkHeader& header, std::span<const std::byte> body) {
  switch (settings_.receive) {
    case Receive::look: return;
    case Receive::copy:
      copy_.resize(std::max<std::size_t>(copy_.size(), header.total_bytes));
      std::memcpy(copy_.data() + header.offset, body.data(), body.size());
      return;
    case Receive::hits:
    case Receive::hits_copied: return read_hits(body);
    case Receive::verify: {
      const auto sent = settings_.pools[header.origin]->message(header.slice);
      const bool right =
          sent.size() == header.total_bytes && std::memcmp(sent.data() + header.offset, body.data(), body.size()) == 0;
      counts_[header.origin].wrong_chunks += right ? 0 : 1;
      return;
    }
  }
}

/// The contents are pseudo-random: only the loads, the steps and the copies are those of hits.
void SinkRole::read_hits(std::span<const std::byte> body) {
  constexpr std::size_t kHitBytes = 2 * sizeof(std::uint32_t);
  const std::size_t hits = body.size() / kHitBytes;
  const bool copies = settings_.receive == Receive::hits_copied;
  times_.clear();
  channels_.clear();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hits; ++i) {
    std::uint32_t words[2];
    std::memcpy(words, body.data() + i * kHitBytes, kHitBytes);
    // One hit at a time: the compiler must not read several at once.
    asm volatile("" : "+r"(words[0]), "+r"(words[1]));
    if (copies) {
      times_.push_back(words[0] & kTimeMask);
      channels_.push_back(marker_value(words[1]));
    } else {
      sum += words[0] & kTimeMask;
    }
  }
  asm volatile("" : : "r"(sum), "r"(times_.data()) : "memory");
}

/// Counts the slices that every sender has completed; each keeps the builder busy for its build time.
void SinkRole::finish_slices() {
  const std::uint64_t before = slices_;
  for (auto next = scheduler_.next_slice(settings_.id, from_); next && *next < seen_end_ && whole(*next);
       next = scheduler_.next_slice(settings_.id, from_)) {
    from_ = {next->value + 1};
    ++slices_;
    busy_until_ = std::max(busy_until_, now_) + settings_.build_time;
  }
  // Claims are collected, so that one note covers several slices if many are in flight.
  if (slices_ != before && slices_ - reported_ >= std::max(settings_.slices_in_flight / 4, 1U)) report_claims();
}

bool SinkRole::whole(SliceId slice) const {
  return std::ranges::all_of(upto_, [&](std::uint64_t upto) { return upto > slice.value; });
}

void SinkRole::report_claims() {
  if (settings_.claims == nullptr) return;
  reported_ = slices_;
  Claim claim;
  claim.builder = settings_.id.value;
  claim.built = slices_;
  claim.claimed = n_senders_ == 0 ? 0 : slices_ + settings_.slices_in_flight;
  claim.finished = done() ? 1 : 0;
  settings_.claims->claim(claim);
}

}  // namespace eventloom
