#include "app/tools/bench/peer_link.hpp"

#include <sched.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "app/command/mpi_command.hpp"

namespace eventloom {

namespace {

using Clock = std::chrono::steady_clock;

/// The sending side of one rank: sends messages to all targets in turn, then the end marks.
class Sending {
 public:
  Sending(PeerLink& link, const PeerTraffic& traffic)
      : link_(link), rounds_(traffic.queue), open_(traffic.targets.size()) {
    std::iota(open_.begin(), open_.end(), std::size_t{0});
  }

  /// Sends while there is room, up to a limit, so that receiving gets its turn. Returns the number of messages started.
  std::uint64_t send() {
    std::uint64_t begun = 0;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      const auto before = begun;
      for (const auto target : open_) begun += link_.send(target) ? 1 : 0;
      if (begun == before) break;
    }
    return begun;
  }

  /// Sends the next end marks; returns false if there is no room or none are left.
  bool end() {
    return std::erase_if(open_, [&](std::size_t target) { return link_.end(target); }) != 0;
  }
  [[nodiscard]] bool ended() const { return open_.empty(); }

 private:
  PeerLink& link_;
  std::uint32_t rounds_;
  std::vector<std::size_t> open_;  ///< indices of the targets not yet sent an end mark
};

}  // namespace

void check(const PeerTraffic& traffic) {
  // MPI counts bytes in an int.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (traffic.message_bytes == 0 || traffic.message_bytes > kMost) {
    throw std::invalid_argument("messages of " + std::to_string(traffic.message_bytes) + " bytes: must be 1 to " +
                                std::to_string(kMost));
  }
  if (traffic.queue == 0) throw std::invalid_argument("a queue of 0 messages: must be 1 or more");
}

PeerResult drive(PeerLink& link, const PeerTraffic& traffic, const Communicator& communicator) {
  Sending sending(link, traffic);
  PeerResult result;
  meet(communicator);
  const auto start = Clock::now();
  while (!sending.ended() || !link.finished()) {
    const auto [messages, bytes, advanced] = link.advance();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result.messages_received += messages;
    result.bytes_received += bytes;
    if (messages != 0) result.seconds = seconds;
    const auto begun = seconds < traffic.seconds ? sending.send() : 0;
    result.messages_sent += begun;
    const bool ended = seconds >= traffic.seconds && sending.end();
    if (!advanced && begun == 0 && !ended) sched_yield();
  }
  meet(communicator);
  return result;
}

}  // namespace eventloom
