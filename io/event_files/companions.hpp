#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/event_files/event_file_writer.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

/// The list-mode files that a writer of a run writes beside its parts.
struct CompanionSettings {
  struct Output {
    EventTarget target;
    std::uint32_t first_file = 0;  ///< its number
  };
  std::vector<Output> outputs;  ///< empty: no such files
  EventFileRun run;
  std::uint64_t first_event = 1;  ///< its number
  bool replace = false;           ///< earlier files of these names, if they are Eventloom's
};

/// The files of one part, complete under their partial names, which they keep unless publish() is called; they are
/// removed when this is destroyed before keep().
class CompleteCompanions {
 public:
  explicit CompleteCompanions(std::vector<CompleteEventFile> files) : files_(std::move(files)) {}

  [[nodiscard]] std::vector<EventFileInfo> infos() const;
  /// Waits until they are on disk.
  void sync();
  /// From now on an error loses nothing: they can be renamed later.
  void keep();
  /// After sync(): gives them their final names.
  void publish();

 private:
  std::vector<CompleteEventFile> files_;
};

/// Writes them. A part has at least one file of each format, more where files end by trigger, or a single slice is too
/// long for one.
class Companions {
 public:
  explicit Companions(const CompanionSettings& settings);
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Begins the files of a part.
  void begin();
  /// False, and nothing is written, if a file has no room for the slice, or 100 files are complete: the part must end
  /// first.
  bool write(const BuiltSlice& slice);
  CompleteCompanions end();
  /// Removes the files of a part without events.
  void abandon();

 private:
  std::vector<std::unique_ptr<EventFileWriter>> writers_;
  std::vector<CompleteEventFile> complete_;  ///< of the part
};

}  // namespace eventloom
