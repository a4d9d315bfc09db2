#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace eventloom {

/// After this much time `work` counts as endless: a slow disk needs little processor time, but reading a pipe that
/// nobody writes to needs none.
struct ApartLimits {
  std::chrono::seconds processor{5};
  std::chrono::milliseconds clock{15'000};
  /// For work that reads the metadata of a file of this size.
  static ApartLimits of_file(std::uint64_t bytes);
};

/// Runs `work` once in a child process, to learn whether it terminates normally: HDF5 1.10 crashes on some damaged
/// metadata and loops on others. Returns how the child died; nothing when `work` returned or threw. `work` must only
/// read, and returns nothing.
std::optional<std::string> dies_apart(const std::function<void()>& work, const ApartLimits& limits = {});

}  // namespace eventloom
