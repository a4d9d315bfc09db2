#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/transport/transport.hpp"

namespace eventloom {

/// The windows of several ranks in one process, for tests. As free as the contract of Transport
/// allows: a put is delivered in random pieces at random moments before flush() returns, in any order,
/// a piece also several times, and each time its source is read anew. A flush() throws std::logic_error
/// when the source of one of its puts has changed since.
class LoopbackFabric {
 public:
  LoopbackFabric(const std::vector<std::uint64_t>& window_bytes, std::uint64_t seed);
  ~LoopbackFabric();

  /// Lives as long as the fabric.
  Transport& rank(int rank);
  /// What the rank has put and not flushed is delivered no more: its memory may go.
  void leave(int rank);

 private:
  class Endpoint;
  struct Put {
    int from;
    int to;
    std::uint64_t offset;
    std::span<const std::byte> data;
    std::vector<std::byte> as_put;  ///< what `data` must hold until the flush
  };

  void put_piece(int from, int to, std::uint64_t offset, std::span<const std::byte> data);
  void deliver_some();
  void complete(int from, int to);
  void copy(const Put& put);

  std::vector<std::vector<std::byte>> windows_;
  std::vector<Put> pending_;  ///< not flushed; delivered or not
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace eventloom
