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

/// Writes events to numbered files. Each file gets its final name as soon as it is complete and on disk. Errors throw
/// UserError with file and reason; finished files remain.
class EventFiles {
 public:
  /// Begins the first file.
  EventFiles(std::unique_ptr<EventFormat> format, EventFilesSettings settings);

  void write(const EventHits& event) { writer_.write(event); }
  /// Ends the last file; without events, an empty file is written. Removes surplus files of the output being replaced.
  EventFilesSummary finish();

 private:
  void publish(const CompleteEventFile& complete);

  EventFilesSettings settings_;
  Recognise ours_;
  EventFilesSummary summary_;
  EventFileWriter writer_;
};

}  // namespace eventloom
