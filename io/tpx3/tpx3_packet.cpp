#include "io/tpx3/tpx3_packet.hpp"

#include <algorithm>
#include <cstring>

namespace eventloom {

Tpx3Kind Tpx3Packet::rare_kind() const {
  constexpr std::uint32_t kGlobalLow = 0x44;
  constexpr std::uint32_t kGlobalHigh = 0x45;
  switch (bits(63, 60)) {
    case 0xa: return Tpx3Kind::integrated;
    case 0x6: return Tpx3Kind::tdc;
    case 0x4:
      if (bits(63, 56) == kGlobalLow) return Tpx3Kind::global_low;
      return bits(63, 56) == kGlobalHigh ? Tpx3Kind::global_high : Tpx3Kind::other;
    case 0x5:
    case 0x7: return Tpx3Kind::other;
    default: return Tpx3Kind::unknown;
  }
}

std::optional<std::uint32_t> Tpx3Packet::edge() const {
  switch (bits(59, 56)) {
    case 0xf: return 0;
    case 0xa: return 1;
    case 0xe: return 2;
    case 0xb: return 3;
    default: return std::nullopt;
  }
}

std::optional<std::int64_t> Tpx3Packet::tdc_time() const {
  constexpr std::uint64_t kCoarseSteps = 12;
  const std::uint64_t fine = std::max<std::uint64_t>(bits(8, 5), 1) - 1;
  if (fine >= kCoarseSteps) return std::nullopt;
  const std::uint64_t coarse = word_ >> 9 & ((std::uint64_t{1} << 35) - 1);
  return static_cast<std::int64_t>(coarse * kCoarseSteps + fine);
}

bool begins_tpx3_file(std::span<const std::byte> head) {
  std::uint64_t word = 0;
  if (head.size() < sizeof word) return false;
  std::memcpy(&word, head.data(), sizeof word);
  const Tpx3Packet packet(word);
  return packet.begins_chunk();
}

}  // namespace eventloom
