#include "app/tools/doctor/mpi_start.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/mpi/environment.hpp"
#include "core/runtime/subprocess.hpp"

namespace eventloom {

namespace {

constexpr const char* kTransportsOfUcx = "UCX_TLS";

}  // namespace

SharedMemoryLeftOut::SharedMemoryLeftOut() {
  if (const char* value = std::getenv(kTransportsOfUcx); value != nullptr) before_ = value;
  ::setenv(kTransportsOfUcx, "^shm", 1);
}

SharedMemoryLeftOut::~SharedMemoryLeftOut() {
  if (before_) {
    ::setenv(kTransportsOfUcx, before_->c_str(), 1);
  } else {
    ::unsetenv(kTransportsOfUcx);
  }
}

bool mpi_starts() {
  Subprocess child([] {
    // UCX writes to stdout, which may have to contain exactly one JSON object.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const MpiEnvironment environment;
  });
  return child.wait().good();
}

std::vector<std::string> mpi_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("UCX_") || text.starts_with("OMPI_MCA_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace eventloom
