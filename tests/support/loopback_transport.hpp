#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/transport/transport.hpp"

namespace eventloom {

/// The windows of several ranks in one process, for tests. Takes every liberty that the contract of Transport allows: a
/// put is delivered in random pieces at random times before flush() returns, in any order, pieces also several times,
/// and its source is read again each time. Within a host this repeats until a flush. Between hosts a put consists of
/// packets of 64 bytes, each complete once it has arrived; a rest that changes nothing is complete at once. Throws
/// std::logic_error if a source changes before its put is complete.
class LoopbackFabric {
 public:
  LoopbackFabric(const std::vector<std::uint64_t>& window_bytes, std::uint64_t seed);
  ~LoopbackFabric();

  /// Valid as long as the fabric.
  Transport& rank(int rank);
  /// Sets whether the ranks count as ranks of one host, which is the default.
  void set_near(bool near) { near_ = near; }
  /// Drops the unflushed puts of the rank, whose memory may then be freed.
  void leave(int rank);

 private:
  class Endpoint;
  struct Put {
    int from;
    int to;
    std::uint64_t offset;
    std::span<const std::byte> data;
    std::vector<std::byte> as_put;  ///< what `data` must hold until completion
    bool delivered = false;         ///< at least once
  };

  void put_piece(int from, int to, std::uint64_t offset, std::span<const std::byte> data);
  void deliver_some();
  void complete(int from, int to);
  void check(const Put& put) const;
  bool deliver_in_part(Put& put);
  [[nodiscard]] std::span<std::byte> place_of(const Put& put);

  std::vector<std::vector<std::byte>> windows_;
  std::vector<Put> pending_;  ///< not complete; delivered or not
  std::mt19937_64 random_;
  bool near_ = true;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace eventloom
