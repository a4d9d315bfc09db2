#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/tools/record/stream_recorder.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// Records one live source: from the receiver of a run to numbered files.
class SourceRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  /// `past`: see EarlierRecording; `files` must outlive this object.
  SourceRecorder(OpenedSource source, std::optional<LivePast> past, StreamRecorder& files);

  /// Receives and writes the available data. Returns whether there were any. Never waits.
  bool turn(Clock::time_point now);
  /// Stops receiving; turn() still writes what was received.
  void finish();
  /// Everything that was received is in the files; the last one is complete.
  [[nodiscard]] bool is_done() const { return done_; }
  /// After finish(), if the files cannot be written: counts everything received as lost, and is done.
  void give_up();
  /// Call once, at the end. Records a loss of unknown size if an earlier recorder heard the source, and this one did
  /// not.
  void close();

  [[nodiscard]] bool has_begun() const { return begun_; }
  [[nodiscard]] const std::string& name() const { return stream_->name(); }
  [[nodiscard]] const Source& source() const { return *stream_; }
  [[nodiscard]] const StreamRecorder& files() const { return files_; }

 private:
  [[nodiscard]] bool may_begin(Clock::time_point now);
  void begin();
  bool step();
  void take(EpochRange epochs);
  [[nodiscard]] std::uint64_t unknown_losses() const;

  std::unique_ptr<Source> stream_;
  LiveStream& live_;  ///< the same object
  std::optional<LivePast> past_;
  StreamRecorder& files_;
  std::optional<Clock::time_point> first_data_;
  SliceData data_;
  Epoch at_ = 0;  ///< everything that begins before this epoch has been taken
  bool begun_ = false;
  bool finishing_ = false;
  bool ended_ = false;  ///< everything has been taken
  bool done_ = false;
};

}  // namespace eventloom
