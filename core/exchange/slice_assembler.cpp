#include "core/exchange/slice_assembler.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

[[noreturn]] void contradiction(const ChunkHeader& header, const char* what) {
  throw std::runtime_error("exchange: slice " + std::to_string(header.slice) + " of origin " +
                           std::to_string(header.origin) + ": " + what);
}

/// Whether header and body can be, by themselves.
void check(const ChunkHeader& header, std::span<const std::byte> body, std::size_t n_origins) {
  if (header.origin >= n_origins) contradiction(header, "there is no such origin");
  if (header.kind > ChunkHeader::kEnd) contradiction(header, "a chunk of unknown kind");
  if (header.bytes != body.size()) contradiction(header, "a chunk of another size than its header says");
  if (header.total_bytes > kMaxMessageBytes || header.damage_bytes() > header.total_bytes) {
    contradiction(header, "a message of impossible size");
  }
  if (header.has_body_crc == 0 && header.offset < header.damage_bytes()) {
    contradiction(header, "damage records without a checksum");
  }
}

void check(const ChunkHeader& header, std::span<const Damage> damage) {
  for (const auto& item : damage) {
    if (!known(item.cause)) contradiction(header, "a loss of unknown cause");
  }
}

}  // namespace

SliceAssembler::SliceAssembler(std::size_t n_origins) : ended_(n_origins), tail_damage_(n_origins) {}

SliceAssembly& SliceAssembler::assembly_of(SliceId slice) {
  auto& place = slices_[slice];
  if (place) return *place;
  if (spare_.empty()) {
    place = std::make_unique<SliceAssembly>(ended_.size());
  } else {
    place = std::move(spare_.back());
    spare_.pop_back();
  }
  return *place;
}

void SliceAssembler::place(const ChunkHeader& header, std::span<const std::byte> body) {
  check(header, body, ended_.size());
  if (ended_[header.origin] != 0) contradiction(header, "it had ended");
  if (header.kind == ChunkHeader::kEnd) return end(header, body);
  if (SliceId{header.slice} < begin_) contradiction(header, "it comes after the slice was built");
  auto& assembly = assembly_of({header.slice});
  auto& part = assembly.parts_[header.origin];
  if (!part.begun) {
    part.begun = true;
    part.total_bytes = header.total_bytes;
    part.n_damage = header.n_damage;
    part.memory.resize(padded(header.total_bytes) / 8);
    if (header.goes_on != 0) assembly.goes_on_ = true;
  }
  if (part.complete || header.total_bytes != part.total_bytes || header.n_damage != part.n_damage ||
      header.offset != part.got_bytes || body.size() > part.total_bytes - part.got_bytes) {
    contradiction(header, "a chunk came twice or out of order");
  }
  if (!body.empty())
    std::memcpy(reinterpret_cast<std::byte*>(part.memory.data()) + header.offset, body.data(), body.size());
  part.got_bytes += body.size();
  part.complete = part.got_bytes == part.total_bytes;
  if (part.complete) check(header, part.damage());
}

void SliceAssembler::end(const ChunkHeader& header, std::span<const std::byte> body) {
  const auto origin = header.origin;
  if (body.size() != header.damage_bytes() || header.offset != 0) contradiction(header, "an end of the wrong size");
  ended_[origin] = 1;
  ++n_ended_;
  data_end_ = std::max(data_end_, SliceId{header.slice});
  tail_damage_[origin].resize(header.n_damage);
  if (!body.empty()) std::memcpy(tail_damage_[origin].data(), body.data(), body.size());
  check(header, tail_damage_[origin]);
}

bool SliceAssembler::complete(SliceId slice) const {
  const auto found = slices_.find(slice);
  if (found == slices_.end()) return all_ended();
  const auto& parts = found->second->parts_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // An origin's last message is in before its end: messages of one origin share a ring.
    if (!parts[i].complete && (ended_[i] == 0 || parts[i].begun)) return false;
  }
  return true;
}

std::unique_ptr<SliceAssembly> SliceAssembler::take(SliceId slice) {
  assembly_of(slice);
  begin_ = std::max(begin_, SliceId{slice.value + 1});
  return std::move(slices_.extract(slice).mapped());
}

void SliceAssembler::recycle(std::unique_ptr<SliceAssembly> assembly) {
  for (auto& part : assembly->parts_) {
    part.begun = part.complete = false;
    part.total_bytes = part.got_bytes = 0;
    part.n_damage = 0;
  }
  assembly->goes_on_ = false;
  spare_.push_back(std::move(assembly));
}

}  // namespace eventloom
