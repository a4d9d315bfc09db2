#include "app/tools/bench/duplexes.hpp"

#include <algorithm>
#include <stdexcept>

#include "app/tools/bench/mpi_duplex.hpp"
#include "app/tools/bench/peers.hpp"
#include "app/tools/bench/put_duplex.hpp"
#include "app/tools/bench/ring_duplex.hpp"
#include "app/tools/bench/shm_duplex.hpp"
#include "app/tools/bench/udp_duplex.hpp"
#ifdef EVENTLOOM_HAS_ZEROMQ
#include "app/tools/bench/zmq_duplex.hpp"
#endif

namespace eventloom {

std::vector<std::string> duplex_names() {
#ifdef EVENTLOOM_HAS_ZEROMQ
  return {"put", "mpi", "zmq-ipc", "zmq-tcp", "udp", "shm"};
#else
  return {"put", "mpi", "udp", "shm"};
#endif
}

std::vector<std::string> with_ring(const std::vector<std::string>& names) {
  std::vector<std::string> all{kRing};
  for (const auto& name : names) {
    if (name != kRing) check_peer_name(name, duplex_names());
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  return all;
}

std::string obstacle_to(std::string_view name, bool one_host, std::uint64_t message_bytes) {
  const bool local = name == "udp" || name == "zmq-ipc" || name == "shm";
  if (local && !one_host) return std::string(name) + " skipped between hosts: it joins ranks of one host";
  if (name == "udp" && message_bytes > kLargestDatagram) {
    return "udp skipped for messages of " + std::to_string(message_bytes) + " bytes: a datagram holds at most " +
           std::to_string(kLargestDatagram);
  }
  return "";
}

std::unique_ptr<Duplex> make_duplex(std::string_view name, const Communicator& communicator,
                                    const DuplexSettings& settings) {
  if (name == kRing) return std::make_unique<RingDuplex>(communicator, settings);
  if (name == "put") return std::make_unique<PutDuplex>(communicator, settings);
  if (name == "mpi") return std::make_unique<MpiDuplex>(communicator, settings);
  if (name == "udp") return std::make_unique<UdpDuplex>(communicator, settings);
  if (name == "shm") return std::make_unique<ShmDuplex>(communicator, settings);
#ifdef EVENTLOOM_HAS_ZEROMQ
  if (name.starts_with("zmq-")) return std::make_unique<ZmqDuplex>(communicator, settings, name == "zmq-tcp");
#endif
  throw std::invalid_argument("no peer " + std::string(name));
}

}  // namespace eventloom
