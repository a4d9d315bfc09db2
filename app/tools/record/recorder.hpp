#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/record/source_recorder.hpp"
#include "core/runtime/json.hpp"
#include "io/files/output_lock.hpp"

namespace eventloom {

struct RecorderSettings {
  std::filesystem::path folder;
  StreamRecorder::Limits limits;
  std::uint64_t keep_bytes = 0;          ///< limit of all files together; 0: none
  std::chrono::nanoseconds duration{0};  ///< counted from the first data; 0: no end
};

/// Records live sources as numbered files in a folder, until all have ended, or a signal or the duration ends it.
/// Holds the folder's lock.
class Recorder {
 public:
  /// Creates the folder, takes up what earlier recorders left, and opens the sources. Throws UserError.
  Recorder(const RecorderSettings& settings, const std::vector<SourceSpec>& specs, SourceOpener& opener);

  void run();

  /// The summary: a line per source, a line with its counters of trouble, and lines on removed files.
  void print(std::ostream& out) const;
  [[nodiscard]] Json report() const;
  /// Whether everything that the sources sent is in the files, or was acknowledged.
  [[nodiscard]] bool is_whole() const;

 private:
  using Clock = std::chrono::steady_clock;

  void add_source(const SourceSpec& spec, SourceId id, SourceOpener& opener);
  bool turn(Clock::time_point now);
  [[nodiscard]] bool must_end(Clock::time_point now);
  void finish_all();
  void look_around(Clock::time_point now);
  void read_acknowledgements();
  void report_progress() const;
  void end();

  RecorderSettings settings_;
  OutputLock lock_;
  KeptFiles kept_;
  std::deque<StreamRecorder> files_;  ///< one per source
  std::deque<SourceRecorder> sources_;
  std::optional<Clock::time_point> begun_;      ///< the first source has begun
  std::optional<Clock::time_point> finishing_;  ///< since when the sources are ending
  Clock::time_point next_look_;
  Clock::time_point next_progress_;
  std::vector<std::string> acknowledgement_troubles_;
  bool marked_ = true;  ///< every source has its end mark
};

}  // namespace eventloom
