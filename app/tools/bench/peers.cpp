#include "app/tools/bench/peers.hpp"

#include <stdexcept>
#include <string>

#include "app/tools/bench/mpi_peer.hpp"
#ifdef EVENTLOOM_HAS_ZEROMQ
#include "app/tools/bench/zmq_peer.hpp"
#endif

namespace eventloom {

namespace {

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace

std::vector<std::string_view> peer_names() {
#ifdef EVENTLOOM_HAS_ZEROMQ
  return {"mpi", "zmq-ipc", "zmq-tcp"};
#else
  return {"mpi"};
#endif
}

std::unique_ptr<Peer> make_peer(std::string_view name, const Communicator& communicator) {
  if (name == "mpi") return make_mpi_peer(communicator);
  if (name == "zmq-ipc" || name == "zmq-tcp") {
#ifdef EVENTLOOM_HAS_ZEROMQ
    return make_zmq_peer(name, communicator);
#else
    throw std::invalid_argument(
        "peer " + std::string(name) +
        ": this build has no ZeroMQ; install libzmq3-dev and rebuild, or choose one of: " + listed(peer_names()));
#endif
  }
  throw std::invalid_argument("no peer " + std::string(name) + "; choose one of: " + listed(peer_names()));
}

}  // namespace eventloom
