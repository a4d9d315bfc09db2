#include "app/tools/bench/peers.hpp"

#include <algorithm>
#include <stdexcept>

#include "app/tools/bench/host_address.hpp"
#include "app/tools/bench/mpi_peer.hpp"
#include "app/tools/bench/shm_peer.hpp"
#include "app/tools/bench/udp_peer.hpp"
#ifdef EVENTLOOM_HAS_ZEROMQ
#include "app/tools/bench/zmq_peer.hpp"
#endif
#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

bool shares_memory(std::string_view name) { return name == "zmq-ipc" || name == "shm"; }

std::unique_ptr<PeerLink> make_link(const std::string& name, const Communicator& communicator,
                                    const PeerTraffic& traffic) {
  if (name == "mpi") return make_mpi_link(communicator, traffic);
  if (name == "udp") return make_udp_link(communicator, traffic);
  if (name == "shm") return make_shm_link(communicator, traffic);
#ifdef EVENTLOOM_HAS_ZEROMQ
  return make_zmq_link(communicator, traffic, name == "zmq-tcp");
#else
  throw std::invalid_argument("no peer " + name);
#endif
}

}  // namespace

std::vector<std::string> peer_names() {
#ifdef EVENTLOOM_HAS_ZEROMQ
  return {"mpi", "zmq-ipc", "zmq-tcp", "udp", "shm"};
#else
  return {"mpi", "udp", "shm"};
#endif
}

void check_peer_name(const std::string& name, const std::vector<std::string>& names) {
  if (std::ranges::find(names, name) != names.end()) return;
  std::string listed;
  for (const auto& one : names) listed += (listed.empty() ? "" : ", ") + one;
  const bool lacking = name == "zmq-ipc" || name == "zmq-tcp";
  throw std::invalid_argument(
      (lacking ? "peer " + name + ": this build has no ZeroMQ; install libzmq3-dev and rebuild" : "no peer " + name) +
      "; choose one of: " + listed);
}

Peer make_peer(const std::string& name, const Communicator& communicator) {
  check_peer_name(name, peer_names());
  const bool reaches_all = !shares_memory(name) || on_one_host(communicator);
  agree(communicator, [&] {
    if (!reaches_all) throw UserError("the peer " + name + " needs all ranks on one host: choose mpi, udp or zmq-tcp");
  });
  return {name, communicator,
          [name, &communicator](const PeerTraffic& traffic) { return make_link(name, communicator, traffic); }};
}

}  // namespace eventloom
