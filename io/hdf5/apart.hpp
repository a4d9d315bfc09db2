#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace eventloom {

/// After these `work` is taken to have no end: a slow disk needs little processor time, but a pipe that nobody writes
/// to needs none.
struct ApartLimits {
  std::chrono::seconds processor{5};
  std::chrono::milliseconds clock{15'000};
  /// For work that reads metadata of a file of this size.
  static ApartLimits of_file(std::uint64_t bytes);
};

/// Runs `work` once in a child process, to learn whether it can be done at all: HDF5 1.10 crashes on some damaged
/// metadata and runs round in circles on other. Returns how the child died; nothing when `work` returned or threw.
/// `work` must only read, and gives nothing back.
std::optional<std::string> dies_apart(const std::function<void()>& work, const ApartLimits& limits = {});

}  // namespace eventloom
