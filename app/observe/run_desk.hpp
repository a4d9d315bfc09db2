#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "formats/control_wire.hpp"

namespace eventloom {

/// A user's request to begin or end one of several runs.
struct RunRequest {
  enum class What : std::uint8_t { start, stop_run, next_run };
  What what = What::start;
  std::optional<std::uint64_t> number = {};  ///< number of the run to begin; not set: the next one
  std::string comment = {};
  std::string from = {};  ///< name of the client
};

/// Requests for the next of several runs: the monitor's thread accepts them, the main thread serves them. All members
/// may be called on any thread.
class RunDesk {
 public:
  /// Accepts a request, or returns why it is refused. Only one request is served at a time, but a start may follow a
  /// stop-run that is still being served: the run begins when the one before it has ended.
  [[nodiscard]] std::string ask(RunRequest request);

  /// No run is active; `last`: the highest number in use. Forgets a request to end a run.
  void wait(std::uint64_t last);
  /// The run has begun. A request that came too late to end the one before it is forgotten.
  void begin(std::uint64_t number);
  /// Returns the request that ends the run, once.
  [[nodiscard]] std::optional<RunRequest> take_end();
  /// Returns the request for the next run, once: a start, or the next-run that take_end() has returned.
  [[nodiscard]] std::optional<RunRequest> take_begin();
  /// The client that requested the end returned by take_end(); "" if none did.
  [[nodiscard]] std::string ended_by() const;
  /// "run 42"; "" while no run is active.
  [[nodiscard]] std::string run() const;

 private:
  [[nodiscard]] std::string refusal(const RunRequest& request) const;

  mutable std::mutex mutex_;
  bool running_ = false;
  std::uint64_t last_ = 0;  ///< highest number in use, that of the active run
  std::optional<RunRequest> end_;
  std::optional<RunRequest> begin_;
  std::string ended_by_;
  bool busy_ = false;      ///< a request is being served
  bool stopping_ = false;  ///< that request is a stop-run
};

}  // namespace eventloom
