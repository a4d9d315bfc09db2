#include "app/tools/bench/tcp_counters.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace eventloom {

// The file has two lines "Tcp: ...": the names, then the values in the same order.
std::uint64_t tcp_retransmits() {
  std::ifstream file("/proc/self/net/snmp");
  std::string names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Tcp:")) continue;
    if (names.empty()) {
      names = line;
      continue;
    }
    std::istringstream keys(names);
    std::istringstream values(line);
    for (std::string key, value; keys >> key && values >> value;) {
      if (key == "RetransSegs") return std::stoull(value);
    }
  }
  return 0;
}

}  // namespace eventloom
