#include "app/tools/bench/host_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

/// Returns an IPv4 address of the named interface or, if `name` is empty, of the first non-loopback interface; empty
/// if there is none.
std::string interface_address(const std::string& name) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string address;
  for (const ifaddrs* i = all; i != nullptr && address.empty(); i = i->ifa_next) {
    const bool up = (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_RUNNING) != 0;
    if (!up || i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    if (name.empty() ? (i->ifa_flags & IFF_LOOPBACK) != 0 : name != i->ifa_name) continue;
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text, sizeof text);
    address = text;
  }
  freeifaddrs(all);
  return address;
}

}  // namespace

bool on_one_host(const Collective& ranks) {
  const auto hosts = ranks.all_gather(host_name());
  return std::ranges::count(hosts, hosts.front()) == ranks.size();
}

std::string reachable_address(bool one_host) {
  // UCX_NET_DEVICES may also list other devices (mlx5_0:1, all): the first network interface counts.
  if (const char* devices = std::getenv("UCX_NET_DEVICES"); devices != nullptr) {
    std::istringstream list(devices);
    for (std::string device; std::getline(list, device, ',');) {
      if (device.empty()) continue;
      if (auto address = interface_address(device); !address.empty()) return address;
    }
  }
  if (one_host) return "127.0.0.1";
  auto address = interface_address("");
  if (address.empty()) {
    throw UserError("host " + host_name() + " has no IPv4 interface but loopback: choose the peer mpi");
  }
  return address;
}

}  // namespace eventloom
