#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace eventloom {

struct StallSettings {
  std::chrono::nanoseconds warning{};  ///< 0: never
  std::chrono::nanoseconds timeout{};  ///< 0: wait forever
  std::string advice = {};             ///< shown to the user when a run cannot continue; no full stop
};

/// Observes the ranks of a run by means other than their messages: the state of their processes, and the signals they
/// receive.
class RankWatch {
 public:
  virtual ~RankWatch() = default;

  /// The rank's name, such as "rank 2 (source 2; builder 0) on n1". Thread-safe.
  [[nodiscard]] virtual std::string name(int rank) const = 0;
  [[nodiscard]] virtual const StallSettings& stalls() const = 0;

  /// Bracket the event loop, which calls turn() every turn. Inside the loop, a turn longer than the timeout ends the
  /// program. Outside it, a single step may take long: the timeout applies only to processes that do not run.
  virtual void enter_loop() = 0;
  virtual void leave_loop() = 0;
  virtual void turn() = 0;

  /// Whether `rank` is another rank on this host.
  [[nodiscard]] virtual bool is_here(int rank) const = 0;
  /// Whether `rank` is on this host and stopped, waiting for its disk, or dead: the watch itself reports these.
  [[nodiscard]] virtual bool has_reported(int rank) const = 0;
  /// The first rank on this host that has died, if any.
  [[nodiscard]] virtual std::optional<int> lost_peer() const = 0;
  /// This rank is about to end the run: what it observes of others from now on is a consequence, and is not reported.
  virtual void be_quiet() = 0;

  /// The signal that asked this rank to stop; 0 if none did.
  [[nodiscard]] virtual int asked_to_stop() const = 0;
  /// The run cannot continue: ends all ranks at once, or throws, so that this rank leaves its session on its own. Every
  /// rank that still responds eventually calls it.
  [[noreturn]] virtual void end_program() = 0;
};

}  // namespace eventloom
