#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "io/event_files/event_file_writer.hpp"

namespace eventloom {

struct EventFilesSummary {
  std::vector<std::filesystem::path> files;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

/// Writes events to numbered files, each of which gets its name as soon as it is complete and on disk. Errors throw
/// UserError with file and reason; the files finished before stay.
class EventFiles {
 public:
  /// Begins the first file.
  EventFiles(std::unique_ptr<EventFormat> format, EventFilesSettings settings);

  void write(const EventHits& event) { writer_.write(event); }
  /// Ends the last file; there is one without events where there were none. Removes the further files of an output that
  /// is replaced and had more.
  EventFilesSummary finish();

 private:
  void publish(const CompleteEventFile& complete);

  EventFilesSettings settings_;
  Recognise ours_;
  EventFilesSummary summary_;
  EventFileWriter writer_;
};

}  // namespace eventloom
