#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eventloom {

/// Contents of synthetic messages. The pool holds pseudo-random bytes that depend only on the sender. The message of
/// slice n is a range of the pool whose position and length depend on n, so it differs from the earlier contents of its
/// cell. No message is empty. A receiver with the same pool can check every byte.
class PayloadPool {
 public:
  /// `footprint`: minimum number of bytes through which the messages cycle. `spread`: lengths are uniform in
  /// message_bytes * (1 -+ spread), 0 <= spread < 1.
  PayloadPool(std::uint32_t sender, std::uint64_t message_bytes, double spread, std::uint64_t footprint);

  [[nodiscard]] std::span<const std::byte> message(std::uint64_t slice) const {
    const std::uint64_t n = slice * stride_ % span_;
    return std::span(bytes_).subspan(n, length(slice));
  }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  static std::uint64_t largest(std::uint64_t message_bytes, double spread) {
    return message_bytes + static_cast<std::uint64_t>(static_cast<double>(message_bytes) * spread);
  }

 private:
  [[nodiscard]] std::uint64_t length(std::uint64_t slice) const;

  std::uint32_t sender_;
  std::uint64_t message_bytes_;
  double spread_;
  std::uint64_t largest_;
  std::uint64_t stride_;  ///< distance between the positions of consecutive slices, a multiple of 64 bytes
  std::uint64_t span_;    ///< upper limit of the positions; not a multiple of the stride
  std::vector<std::byte> bytes_;
};

}  // namespace eventloom
