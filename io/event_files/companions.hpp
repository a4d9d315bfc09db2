#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/event_files/event_file_writer.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

/// Settings of the list-mode files that a writer of a run writes beside its parts.
struct CompanionSettings {
  struct Output {
    EventTarget target;
    std::uint32_t first_file = 0;  ///< number of the first file
  };
  std::vector<Output> outputs;  ///< empty: no such files
  EventFileRun run;
  std::uint64_t first_event = 1;  ///< number of the first event
  bool replace = false;           ///< replace earlier files with these names, if Eventloom wrote them
};

/// The files of one part, complete under their partial names until publish() is called. The destructor removes them
/// unless keep() or publish() has been called.
class CompleteCompanions {
 public:
  explicit CompleteCompanions(std::vector<CompleteEventFile> files) : files_(std::move(files)) {}

  [[nodiscard]] std::vector<EventFileInfo> infos() const;
  /// Waits until the files are on disk.
  void sync();
  /// Keeps the files under their partial names if an error follows; they can be renamed later.
  void keep();
  /// Call after sync(): gives the files their final names.
  void publish();

 private:
  std::vector<CompleteEventFile> files_;
};

/// Writes the list-mode files of a run's parts. A part has at least one file of each format, or more if files end by
/// trigger or a single slice is too long for one file.
class Companions {
 public:
  explicit Companions(const CompanionSettings& settings);
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Begins the files of a part.
  void begin();
  /// Returns false and writes nothing if a file has no room for the slice or 100 files are complete; the part must end
  /// first.
  bool write(const BuiltSlice& slice);
  CompleteCompanions end();
  /// Removes the files of a part without events.
  void abandon();

 private:
  std::vector<std::unique_ptr<EventFileWriter>> writers_;
  std::vector<CompleteEventFile> complete_;  ///< complete files of the part
};

}  // namespace eventloom
