#include "app/tools/bench/payload_pool.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "formats/hash.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kLine = 64;

std::uint64_t lines(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

PayloadPool::PayloadPool(std::uint32_t sender, std::uint64_t message_bytes, double spread, std::uint64_t footprint)
    : sender_(sender),
      message_bytes_(message_bytes),
      spread_(spread),
      largest_(largest(message_bytes, spread)),
      stride_(std::max(lines(largest_), kLine)),
      span_(std::max(footprint / stride_, std::uint64_t{1}) * stride_ + kLine),
      bytes_(span_ + largest_ + sizeof(std::uint64_t)) {
  std::mt19937_64 random(sender);
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes_.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(bytes_.data() + at, &word, sizeof word);
  }
}

std::uint64_t PayloadPool::length(std::uint64_t slice) const {
  if (spread_ == 0) return message_bytes_;
  const std::uint64_t hash = splitmix64(slice * 65536 + sender_);
  const double fraction = static_cast<double>(hash >> 11) * 0x1p-53;  // 0 to 1
  const double length = static_cast<double>(message_bytes_) * (1 + spread_ * (2 * fraction - 1));
  return std::max(static_cast<std::uint64_t>(length), std::uint64_t{1});
}

}  // namespace eventloom
