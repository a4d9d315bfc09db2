// Every peer that the build has moves several patterns of traffic for a moment, with messages small
// and large; the ranks put their counts together. Exit code 0 when nothing is missing.

#include "app/tools/bench/peers.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"

namespace eventloom {
namespace {

struct Pattern {
  const char* name;
  std::function<bool(int from, int to)> connected;
};

std::vector<Pattern> patterns(int ranks) {
  if (ranks == 1) return {{"self", [](int, int) { return true; }}, {"nothing", [](int, int) { return false; }}};
  return {{"one-to-all", [](int from, int to) { return from == 0 && to != 0; }},
          {"all-to-one", [](int from, int to) { return from != 0 && to == 0; }},
          {"all-to-all", [](int from, int to) { return from != to; }},
          {"all-to-all with self", [](int, int) { return true; }},
          {"nothing", [](int, int) { return false; }}};
}

PeerTraffic traffic_of(const Communicator& communicator, const Pattern& pattern, std::uint64_t message_bytes,
                       std::uint32_t queue) {
  PeerTraffic traffic;
  traffic.message_bytes = message_bytes;
  traffic.queue = queue;
  traffic.receive = Receive::verify;
  for (int other = 0; other < communicator.size(); ++other) {
    if (pattern.connected(communicator.rank(), other)) traffic.targets.push_back(other);
    if (pattern.connected(other, communicator.rank())) traffic.senders.push_back(other);
  }
  return traffic;
}

/// What is wrong with the counts of this rank and of all; empty when nothing is.
std::string fault(const Communicator& communicator, const PeerTraffic& traffic, const PeerResult& result,
                  bool may_lose) {
  const auto sent = communicator.sum(result.messages_sent);
  const auto received = communicator.sum(result.messages_received);
  std::ostringstream text;
  const auto lost = communicator.sum(result.messages_lost);
  if (sent != received + lost) text << sent << " messages sent but " << received << " received, " << lost << " lost; ";
  if (lost != 0 && !may_lose) text << lost << " lost; ";
  if (result.messages_wrong != 0) text << result.messages_wrong << " messages with wrong bytes; ";
  if (result.bytes_received != result.messages_received * traffic.message_bytes) {
    text << result.bytes_received << " bytes in " << result.messages_received << " messages; ";
  }
  if (traffic.senders.empty() != (result.messages_received == 0))
    text << "received " << result.messages_received << "; ";
  if (traffic.targets.empty() != (result.messages_sent == 0)) text << "sent " << result.messages_sent << "; ";
  if ((result.seconds > 0) != (result.messages_received > 0)) text << result.seconds << " seconds; ";
  return text.str();
}

bool moves_everything(const Communicator& communicator, const Peer& peer) {
  bool good = true;
  for (const auto& pattern : patterns(communicator.size())) {
    for (const auto& [bytes, queue] : {std::pair(1ULL, 1U), {1000ULL, 8U}, {300'000ULL, 2U}}) {
      auto traffic = traffic_of(communicator, pattern, bytes, queue);
      // A rank that gets its processor only after the time has sent something, too.
      for (const double seconds : {0.05, 0.0}) {
        traffic.seconds = seconds;
        const auto what = fault(communicator, traffic, peer.run(traffic), peer.name() == "udp");
        if (what.empty()) continue;
        std::fprintf(stderr, "%s %s of %llu bytes for %g s, rank %d: %s\n", peer.name().c_str(), pattern.name, bytes,
                     seconds, communicator.rank(), what.c_str());
        good = false;
      }
    }
  }
  return good;
}

template <typename Error>
bool throws(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error&) {
    return true;
  }
  std::fprintf(stderr, "nothing was thrown\n");
  return false;
}

bool refuses_nonsense(const Communicator& communicator) {
  const auto peer = make_peer("mpi", communicator);
  return throws<std::invalid_argument>([&] { make_peer("pigeon", communicator); }) &&
         throws<std::invalid_argument>([&] {
           PeerTraffic empty;
           empty.message_bytes = 0;
           peer.run(empty);
         }) &&
         throws<std::invalid_argument>([&] {
           PeerTraffic without_queue;
           without_queue.message_bytes = 1;
           without_queue.queue = 0;
           peer.run(without_queue);
         });
}

bool run(const Communicator& communicator) {
  bool good = refuses_nonsense(communicator);
  for (const auto& name : peer_names()) {
    const auto peer = make_peer(name, communicator);
    good &= peer.name() == name;
    good &= moves_everything(communicator, peer);
  }
  return good;
}

}  // namespace
}  // namespace eventloom

int main() {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  return eventloom::run(communicator) ? 0 : 1;
}
