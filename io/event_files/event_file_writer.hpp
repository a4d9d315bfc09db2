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
  std::uint64_t most_bytes = 0;  ///< of a file, unless a single event is longer; 0: no limit
  FileTriggers triggers = {};
  bool replace = false;           ///< earlier files of these names, if they are Eventloom's
  std::uint32_t first_file = 0;   ///< its number
  std::uint64_t first_event = 1;  ///< its number
};

/// A file with all its events, under its partial name; not yet on disk.
struct CompleteEventFile {
  std::unique_ptr<PartialFile> file;
  EventFileInfo info;
};

/// Writes events to numbered files. Errors throw UserError with file and reason; the file being written is removed
/// when this is destroyed.
class EventFileWriter {
 public:
  /// `take` gets each file when it is complete.
  EventFileWriter(std::unique_ptr<EventFormat> format, EventFilesSettings settings,
                  std::function<void(CompleteEventFile)> take);

  /// The file of this number, in its folder.
  [[nodiscard]] std::filesystem::path path_of(std::uint32_t number) const;

  /// Begins the next file.
  void begin();
  /// Appends an event to the file, or to the next one if this one has events and would become too long, or ends there
  /// by trigger.
  void write(const EventHits& event);
  /// Appends the events of a slice. Returns false, and appends nothing, if the file has events and would become too
  /// long. Several files are written where the first events of a file are those of a slice that is too long for one.
  /// If it returns true, settle() or take_back() is next.
  bool write(const BuiltSlice& slice);
  /// Keeps the last slice, in several files if files end in it by trigger.
  void settle(const BuiltSlice& slice);
  /// Takes back the last slice, before which the file had events.
  void take_back();
  /// Completes the file.
  void end();
  /// Removes the file, which has no events.
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
  EventFileInfo info_;              ///< of the file; bytes: those written to it
  std::vector<std::byte> pending_;  ///< not written yet
  bool after_end_ = false;          ///< the last event was the last of its file by trigger
  struct {
    std::size_t pending = 0;
    std::uint64_t events = 0;
    bool after_end = false;
  } before_slice_;
  bool cut_ = false;  ///< files end in the last slice by trigger, which settle() has to do
};

}  // namespace eventloom
