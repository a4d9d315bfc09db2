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
  if (header.origin >= ended_.size()) contradiction(header, "there is no such origin");
  if (header.kind == ChunkHeader::kEnd) return end(header, body);
  auto& assembly = assembly_of({header.slice});
  auto& part = assembly.parts_[header.origin];
  if (!part.begun) {
    part.begun = true;
    part.total_bytes = header.total_bytes;
    part.n_damage = header.n_damage;
    part.memory.resize(padded(header.total_bytes) / 8);
    if (header.goes_on != 0) assembly.goes_on_ = true;
  }
  if (part.complete || header.total_bytes != part.total_bytes || header.offset != part.got_bytes) {
    contradiction(header, "a chunk came twice or out of order");
  }
  if (!body.empty())
    std::memcpy(reinterpret_cast<std::byte*>(part.memory.data()) + header.offset, body.data(), body.size());
  part.got_bytes += body.size();
  part.complete = part.got_bytes == part.total_bytes;
}

void SliceAssembler::end(const ChunkHeader& header, std::span<const std::byte> body) {
  const auto origin = header.origin;
  if (ended_[origin] != 0) contradiction(header, "it ended twice");
  if (body.size() != header.n_damage * sizeof(Damage)) contradiction(header, "an end of the wrong size");
  ended_[origin] = 1;
  ++n_ended_;
  data_end_ = std::max(data_end_, SliceId{header.slice});
  tail_damage_[origin].resize(header.n_damage);
  if (!body.empty()) std::memcpy(tail_damage_[origin].data(), body.data(), body.size());
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
