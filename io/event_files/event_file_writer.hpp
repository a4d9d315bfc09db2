#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "io/event_files/event_file_info.hpp"
#include "io/event_files/event_format.hpp"
#include "io/event_files/file_triggers.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

struct EventFilesSettings {
  std::filesystem::path folder;  ///< must exist
  std::uint64_t most_bytes = 0;  ///< largest file, unless a single event is longer; 0: no limit
  FileTriggers triggers = {};
  bool replace = false;           ///< replace earlier files with these names, if Eventloom wrote them
  std::uint32_t first_file = 0;   ///< number of the first file
  std::uint64_t first_event = 1;  ///< number of the first event
};

/// A file with all its events under its partial name. It may not be on disk yet.
struct CompleteEventFile {
  std::unique_ptr<PartialFile> file;
  EventFileInfo info;
};

/// Writes events to numbered files. Errors throw UserError with file and reason. The destructor removes the file being
/// written.
class EventFileWriter {
 public:
  /// `take` is called with each file when it is complete.
  EventFileWriter(std::unique_ptr<EventFormat> format, EventFilesSettings settings,
                  std::function<void(CompleteEventFile)> take);

  /// Path of the file with this number.
  [[nodiscard]] std::filesystem::path path_of(std::uint32_t number) const;

  /// Begins the next file.
  void begin();
  /// Appends an event to the file, or to the next one if this one has events and would become too long or ends here by
  /// trigger.
  void write(const EventHits& event);
  /// Appends the events of a slice. Returns false and appends nothing if the file has events and would become too long.
  /// If the file has no events and the slice is too long for it, several files are written. After true, call settle()
  /// or take_back().
  bool write(const BuiltSlice& slice);
  /// Keeps the last slice, splitting it into several files if files end in it by trigger.
  void settle(const BuiltSlice& slice);
  /// Takes back the last slice. The file must have had events before it.
  void take_back();
  /// Completes the file.
  void end();
  /// Removes the file, which must have no events.
  void abandon();

 private:
  /// Returns whether the event begins a file by trigger.
  bool append(const EventHits& event);
  void flush();
  [[nodiscard]] bool is_too_long() const;
  void refuse_long(Tick time, std::size_t bytes) const;

  std::unique_ptr<EventFormat> format_;
  EventFilesSettings settings_;
  std::function<void(CompleteEventFile)> take_;
  std::uint32_t next_file_;
  std::uint64_t next_event_;
  std::unique_ptr<PartialFile> file_;
  EventFileInfo info_;              ///< describes the file; bytes: those already written
  std::vector<std::byte> pending_;  ///< data not written yet
  bool after_end_ = false;          ///< the last event was the last of its file by trigger
  struct {
    std::size_t pending = 0;
    std::uint64_t events = 0;
    bool after_end = false;
  } before_slice_;
  bool cut_ = false;  ///< files end in the last slice by trigger; settle() must split it
};

}  // namespace eventloom
