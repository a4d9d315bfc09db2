#include "core/runtime/host_name.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace eventloom {

std::string host_name() {
  // The maximum on Linux; the last byte terminates a truncated name.
  std::array<char, 257> text{};
  if (gethostname(text.data(), text.size() - 1) != 0) return "localhost";
  return text.data();
}

std::string kernel_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string name_of_rank(int rank, int size) {
  return size == 1 ? "" : "rank " + std::to_string(rank) + " on " + host_name() + ": ";
}

}  // namespace eventloom
