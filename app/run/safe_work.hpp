#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_setup.hpp"
#include "core/engine/role.hpp"
#include "core/engine/session.hpp"

namespace eventloom {

/// Informs sources with the key `acknowledge` of the slices on disk: rank 0 periodically reads the lists of finished
/// parts, and the heartbeat carries the first slice not in them to all ranks. It does nothing without such sources.
class SafeWork final : public TurnTask {
 public:
  /// `looks`: this rank reads the lists. The arguments must outlive this object.
  SafeWork(const OutputSettings& output, const RunSetup& setup, Session& session, bool looks);

  void turn(SteadyTime now) override;
  /// The run has ended with `code`, and its output is on disk unless `code` says otherwise.
  void end(int code);

 private:
  /// A writer's list of finished parts.
  struct List {
    std::filesystem::path path;
    std::size_t earlier = 0;   ///< parts of earlier invocations, which may lack slices of others
    std::uintmax_t bytes = 0;  ///< its size when it was last read
    SliceId end;               ///< the writer's slices before it are in finished parts
  };

  static void look(List& list);
  [[nodiscard]] SliceId first_unsafe();

  Session& session_;
  bool acknowledges_;
  bool looks_;
  std::vector<List> lists_;  ///< one for each definition and writer
  SteadyTime next_look_{};
};

}  // namespace eventloom
