#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace eventloom {

/// Limits after which `work` counts as endless. Waiting for a slow disk takes little processor time; clock time catches
/// a read that blocks, such as from a pipe without a writer.
struct ApartLimits {
  std::chrono::seconds processor{5};
  std::chrono::milliseconds clock{15'000};
  /// Limits for work that reads the metadata of this file, which may be missing.
  static ApartLimits of_file(const std::string& path);
};

/// Runs `work` once in a child process, to learn whether it terminates normally: HDF5 1.10 crashes or loops on some
/// damaged metadata. Returns how the child died; std::nullopt when `work` returned or threw. `work` must only read, and
/// its results are lost.
std::optional<std::string> dies_apart(const std::function<void()>& work, const ApartLimits& limits = {});

}  // namespace eventloom
