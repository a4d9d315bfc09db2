#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "formats/datagram_reply.hpp"

namespace eventloom {

/// Keeps the last data datagrams of a session as they were sent, and selects those that a request names. Independent of
/// sockets and clocks: times are in ns of any monotonic clock. Not thread-safe.
class ResendWindow {
 public:
  /// A datagram is not sent again sooner than this, nor more often: repeated or forged requests cost nothing.
  static constexpr std::int64_t kPause_ns = 4'000'000;
  static constexpr std::uint32_t kMostTimes = 32;
  /// Bytes that may be resent in addition to as many as were added.
  static constexpr std::uint64_t kFreeBytes = 65536;

  /// `bytes`: capacity; 0: keeps nothing.
  explicit ResendWindow(std::size_t bytes);

  /// Adds a datagram of kind data, in ascending order of number and offset.
  void add(const DatagramHeader& header, std::span<const std::byte> datagram);
  /// Calls `again` with each datagram that overlaps `piece` and may be sent again now.
  void select(const MissingPiece& piece, std::int64_t now_ns,
              const std::function<void(std::span<const std::byte>)>& again);

 private:
  struct Kept {
    std::uint64_t sequence = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::size_t at = 0;  ///< offset in memory_
    std::size_t bytes = 0;
    std::int64_t last_ns = 0;
    std::uint32_t times = 0;
  };

  std::size_t place_for(std::size_t bytes);

  std::size_t capacity_;
  std::unique_ptr<std::byte[]> memory_;  ///< the datagrams, used as a ring
  std::size_t next_ = 0;                 ///< offset of the next datagram in memory_
  std::deque<Kept> kept_;
  std::uint64_t may_send_ = kFreeBytes;  ///< bytes that may be sent again
};

}  // namespace eventloom
