#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/tools/bench/payload_pool.hpp"
#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The pool from which a rank sends: message n of each of its connections is message n of the pool.
PayloadPool pool_of(const PeerTraffic& traffic, int sender);
/// Bytes of its largest message.
std::uint64_t largest_message(const PeerTraffic& traffic);

/// Counts the messages that a rank receives, and compares their bytes with those sent if the traffic says so.
class PeerReceiver {
 public:
  explicit PeerReceiver(const PeerTraffic& traffic);

  /// `sender`: index in PeerTraffic::senders. `number`: of the message, among all that were sent on its connection.
  void take(std::size_t sender, std::uint64_t number, std::span<const std::byte> message);
  void lose(std::uint64_t messages) { result_.messages_lost += messages; }

  [[nodiscard]] const PeerResult& result() const { return result_; }

 private:
  std::vector<PayloadPool> pools_;  ///< one per sender; none unless bytes are compared
  PeerResult result_;
};

/// The connections of one rank while a peer runs. No member blocks.
class PeerLink {
 public:
  PeerLink() = default;
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;
  virtual ~PeerLink() = default;

  /// Starts sending a message to the target with this index in PeerTraffic::targets; false: no room now. The bytes must
  /// stay valid until the link is destroyed.
  virtual bool send(std::size_t target, std::span<const std::byte> message) = 0;
  /// Signals the target that no more messages follow; false: no room now, retry.
  virtual bool end(std::size_t target) = 0;
  /// Takes received messages and frees sent ones, a bounded number per call. Returns whether anything has moved.
  virtual bool advance(PeerReceiver& receiver) = 0;
  /// Whether all senders have ended and no sent message still needs this rank's progress. Even then, advance() answers
  /// other ranks until they have finished, too.
  [[nodiscard]] virtual bool finished() const = 0;
};

}  // namespace eventloom
