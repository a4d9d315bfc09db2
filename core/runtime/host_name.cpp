#include "core/runtime/host_name.hpp"

#include <unistd.h>

#include <array>

namespace eventloom {

std::string host_name() {
  // The maximum on Linux; the last byte terminates a truncated name.
  std::array<char, 257> text{};
  if (gethostname(text.data(), text.size() - 1) != 0) return "localhost";
  return text.data();
}

std::string name_of_rank(int rank, int size) {
  return size == 1 ? "" : "rank " + std::to_string(rank) + " on " + host_name() + ": ";
}

}  // namespace eventloom
