#pragma once

#include <chrono>
#include <string>

namespace eventloom {

/// What is told to people when a run does not get on.
inline constexpr const char* kHowToGoOn = "what is finished is safe; the same command with --resume goes on from there";

struct StallSettings {
  std::chrono::nanoseconds warning{};  ///< 0: never
  std::chrono::nanoseconds timeout{};  ///< 0: waits for ever
};

/// What is known of the ranks of a run besides what they say themselves: of their processes, and of the signals that
/// they get.
class RankWatch {
 public:
  virtual ~RankWatch() = default;

  /// "rank 2 (source 2; builder 0) on n1". Any thread.
  [[nodiscard]] virtual std::string name(int rank) const = 0;
  [[nodiscard]] virtual const StallSettings& stalls() const = 0;

  /// The event loop: every turn is noted, and a turn that takes longer than the timeout ends the program. Outside of
  /// it one step may take long: only a process that does not run is held against the timeout.
  virtual void enter_loop() = 0;
  virtual void leave_loop() = 0;
  virtual void turn() = 0;

  /// Another rank of this host.
  [[nodiscard]] virtual bool is_here(int rank) const = 0;
  /// Of this host, and stopped, waiting for its disk, or dead: the watch says so itself.
  [[nodiscard]] virtual bool is_told_of(int rank) const = 0;
  /// A rank of this host has died.
  [[nodiscard]] virtual bool peer_lost() const = 0;
  /// This rank is about to end the run: what it sees of others from now on follows from that.
  virtual void be_quiet() = 0;

  /// The signal that has asked this rank to stop, 0 while none has.
  [[nodiscard]] virtual int asked_to_stop() const = 0;
  /// The run cannot go on: ends all ranks at once, or throws, so that this rank leaves its session alone. In the end
  /// every rank that still answers calls it.
  [[noreturn]] virtual void end_program() = 0;
};

}  // namespace eventloom
