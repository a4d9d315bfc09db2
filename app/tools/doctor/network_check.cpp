#include "app/tools/doctor/network_check.hpp"

#include <cstdint>
#include <fstream>

#include "core/runtime/format.hpp"
#include "io/udp/udp_socket.hpp"

namespace eventloom {

std::vector<Finding> check_network(const std::filesystem::path& root) {
  std::ifstream in(root / "proc/sys/net/core/rmem_max");
  std::uint64_t bytes = 0;
  if (!(in >> bytes)) {
    return {{.subject = "udp", .level = FindingLevel::note, .what = "unknown: no /proc/sys/net/core/rmem_max"}};
  }
  Finding finding{.subject = "udp", .what = fmt::format("rmem_max {}", bytes)};
  // The system grants twice the requested size, at most twice rmem_max.
  if (2 * bytes >= 2 * UdpSocket::kReceiveBytes) return {finding};
  finding.level = 2 * bytes < UdpSocket::kFewBytes ? FindingLevel::warning : FindingLevel::note;
  finding.meaning = "sources udp:// and trb:// lose datagrams at high rates when their rank pauses for milliseconds";
  finding.fix = fmt::format("sysctl -w net.core.rmem_max={}", UdpSocket::kReceiveBytes);
  return {finding};
}

}  // namespace eventloom
