#include "io/udp/link_rate.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>

namespace eventloom {

namespace {

bool same_host(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return a.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

}  // namespace

std::uint64_t link_rate_of(int socket) {
  constexpr std::int64_t kMegabit = 1'000'000 / 8;
  sockaddr_storage local{};
  socklen_t length = sizeof local;
  ifaddrs* list = nullptr;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &length) != 0 || ::getifaddrs(&list) != 0) return 0;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const auto* device = list; device != nullptr; device = device->ifa_next) {
    if (device->ifa_addr == nullptr || !same_host(*device->ifa_addr, reinterpret_cast<sockaddr&>(local))) continue;
    std::ifstream file("/sys/class/net/" + std::string(device->ifa_name) + "/speed");
    std::int64_t megabits = 0;
    return file >> megabits && megabits > 0 ? static_cast<std::uint64_t>(megabits * kMegabit) : 0;
  }
  return 0;
}

}  // namespace eventloom
