#include "core/exchange/slice_assembler.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

[[noreturn]] void contradiction(const ChunkHeader& header, const char* what) {
  throw std::runtime_error("exchange: slice " + std::to_string(header.slice) + " of origin " +
                           std::to_string(header.origin) + ": " + what);
}

/// Checks that header and body are consistent in themselves.
void check(const ChunkHeader& header, std::span<const std::byte> body, std::size_t n_origins) {
  if (header.origin >= n_origins) contradiction(header, "there is no such origin");
  if (header.kind > ChunkHeader::kLent) contradiction(header, "a chunk of unknown kind");
  if (header.bytes != body.size()) contradiction(header, "a chunk whose size differs from its header");
  if (header.total_bytes > kMaxMessageBytes || header.damage_bytes() > header.total_bytes) {
    contradiction(header, "a message of impossible size");
  }
  if (header.has_body_crc == 0 && header.offset < header.damage_bytes()) {
    contradiction(header, "damage records without a checksum");
  }
  if (header.kind == ChunkHeader::kLent && header.damage_bytes() != header.total_bytes) {
    contradiction(header, "a loan with data");
  }
}

void check(const ChunkHeader& header, std::span<const Damage> damage) {
  for (const auto& item : damage) {
    if (!known(item.cause)) contradiction(header, "a loss of unknown cause");
  }
}

}  // namespace

void SliceAssembly::Part::lack(std::span<const Damage> missing) {
  n_damage = static_cast<std::uint32_t>(missing.size());
  total_bytes = missing.size_bytes();
  memory.resize(padded(total_bytes) / 8);
  std::ranges::copy(std::as_bytes(missing), reinterpret_cast<std::byte*>(memory.data()));
}

SliceAssembler::SliceAssembler(std::size_t n_origins, Bodies bodies) : bodies_(bodies), origins_(n_origins) {}

SliceAssembly& SliceAssembler::assembly_of(SliceId slice) {
  auto& place = slices_[slice];
  if (place) return *place;
  if (spare_.empty()) {
    place = std::make_unique<SliceAssembly>(origins_.size());
  } else {
    place = std::move(spare_.back());
    spare_.pop_back();
  }
  return *place;
}

void SliceAssembler::place(const ChunkHeader& header, std::span<const std::byte> body) {
  check(header, body, origins_.size());
  if (origins_[header.origin].ended) contradiction(header, "it had ended");
  if (header.kind == ChunkHeader::kEnd) return end(header, body);
  if (header.kind == ChunkHeader::kGap) return gap(header, body);
  if (SliceId{header.slice} < begin_) contradiction(header, "it arrives after the slice was built");
  auto& assembly = assembly_of({header.slice});
  auto& part = assembly.parts_[header.origin];
  if (!part.begun) {
    auto& origin = origins_[header.origin];
    if (gap_of(header.origin, {header.slice}) != nullptr) contradiction(header, "it lies in a gap");
    part.begun = true;
    origin.passed = std::max(origin.passed, SliceId{header.slice + 1});
    part.total_bytes = header.total_bytes;
    part.n_damage = header.n_damage;
    part.lent = header.kind == ChunkHeader::kLent;
    if (bodies_ == Bodies::kept) part.memory.resize(padded(header.total_bytes) / 8);
    if (header.has_more != 0) assembly.has_more_ = true;
  }
  if (part.complete || part.lent != (header.kind == ChunkHeader::kLent) || header.total_bytes != part.total_bytes ||
      header.n_damage != part.n_damage || header.offset != part.got_bytes ||
      body.size() > part.total_bytes - part.got_bytes) {
    contradiction(header, "a chunk is repeated or out of order");
  }
  if (!body.empty() && bodies_ == Bodies::kept) {
    std::memcpy(reinterpret_cast<std::byte*>(part.memory.data()) + header.offset, body.data(), body.size());
  }
  part.got_bytes += body.size();
  part.complete = part.got_bytes == part.total_bytes;
  if (part.complete && bodies_ == Bodies::kept) check(header, part.damage());
}

void SliceAssembler::end(const ChunkHeader& header, std::span<const std::byte> body) {
  const auto origin = header.origin;
  if (body.size() != header.damage_bytes() || header.offset != 0) contradiction(header, "an end of the wrong size");
  origins_[origin].ended = true;
  origins_[origin].end = {header.slice};
  ++n_ended_;
  data_end_ = std::max(data_end_, SliceId{header.slice});
  auto& tail = origins_[origin].tail;
  tail.resize(header.n_damage);
  if (!body.empty()) std::memcpy(tail.data(), body.data(), body.size());
  check(header, tail);
}

void SliceAssembler::gap(const ChunkHeader& header, std::span<const std::byte> body) {
  Gap gap{{{header.slice}, {}}, {}};
  auto& end = gap.slices.end.value;
  const bool whole = body.size() == header.total_bytes && body.size() >= sizeof end && header.has_body_crc != 0;
  if (!whole || (body.size() - sizeof end) % sizeof(Damage) != 0) contradiction(header, "a gap of the wrong size");
  std::memcpy(&end, body.data(), sizeof end);
  gap.damage.resize((body.size() - sizeof end) / sizeof(Damage));
  std::ranges::copy(body.subspan(sizeof end), std::as_writable_bytes(std::span(gap.damage)).begin());
  check(header, gap.damage);
  if (gap.slices.end <= gap.slices.begin) contradiction(header, "a gap without slices");
  auto& origin = origins_[header.origin];
  origin.passed = std::max(origin.passed, gap.slices.end);
  if (gap.slices.end <= begin_) return;
  const auto behind = std::ranges::upper_bound(origin.gaps, gap.slices.begin, {}, first_of);
  origin.gaps.insert(behind, std::move(gap));
}

const SliceAssembler::Gap* SliceAssembler::gap_of(std::size_t origin, SliceId slice) const {
  const auto& gaps = origins_[origin].gaps;
  for (auto next = std::ranges::upper_bound(gaps, slice, {}, first_of); next != gaps.begin();) {
    if ((--next)->slices.contains(slice)) return &*next;
  }
  return nullptr;
}

std::span<const Damage> SliceAssembler::missing(std::size_t origin, SliceId slice) const {
  const auto* gap = gap_of(origin, slice);
  return gap == nullptr ? origins_[origin].tail : gap->damage;
}

bool SliceAssembler::complete(SliceId slice) const {
  if (asked_.slice != slice) asked_ = {slice, 0};
  const auto found = slices_.find(slice);
  for (auto& i = asked_.complete; i < origins_.size(); ++i) {
    // An origin's last message arrives before its end: messages of one origin share a ring.
    const bool begun = found != slices_.end() && found->second->parts_[i].begun;
    if (begun ? !found->second->parts_[i].complete : !origins_[i].ended && origins_[i].passed <= slice) return false;
  }
  return true;
}

SliceId SliceAssembler::nothing_up_to(std::size_t origin, SliceId slice) const {
  const auto* gap = gap_of(origin, slice);
  return gap == nullptr ? slice : gap->slices.end;
}

SliceId SliceAssembler::nothing_up_to(SliceId slice) const {
  SliceId end{std::numeric_limits<std::uint64_t>::max()};
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    if (origins_[i].ended && slice >= origins_[i].end) continue;
    end = std::min(end, nothing_up_to(i, slice));
  }
  return end;
}

std::unique_ptr<SliceAssembly> SliceAssembler::take(SliceId slice) {
  auto& assembly = assembly_of(slice);
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    if (!assembly.parts_[i].begun) assembly.parts_[i].lack(missing(i, slice));
  }
  auto taken = std::move(slices_.extract(slice).mapped());
  pass({slice.value + 1});
  return taken;
}

void SliceAssembler::pass(SliceId end) {
  begin_ = std::max(begin_, end);
  for (auto& origin : origins_) {
    std::erase_if(origin.gaps, [this](const Gap& gap) { return gap.slices.end <= begin_; });
  }
}

void SliceAssembler::recycle(std::unique_ptr<SliceAssembly> assembly) {
  for (auto& part : assembly->parts_) {
    part.begun = part.complete = part.lent = false;
    part.total_bytes = part.got_bytes = 0;
    part.n_damage = 0;
  }
  assembly->has_more_ = false;
  spare_.push_back(std::move(assembly));
}

}  // namespace eventloom
