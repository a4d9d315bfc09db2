#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/event_files/event_format.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

struct EventFilesSettings {
  std::filesystem::path folder;  ///< must exist
  std::uint64_t most_bytes = 0;  ///< of a file, unless a single event is longer; 0: no limit
  bool replace = false;          ///< earlier files of these names, if they are Eventloom's
};

struct EventFilesSummary {
  std::vector<std::filesystem::path> files;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

/// Writes events to numbered files, each a PartialFile until it is complete and on disk. Errors throw UserError with
/// file and reason; the files finished before stay.
class EventFiles {
 public:
  /// Begins the first file.
  EventFiles(std::unique_ptr<EventFormat> format, EventFilesSettings settings);

  void write(const EventHits& event);
  /// Ends the last file; there is one without events where there were none. Removes the further files of an output that
  /// is replaced and had more.
  EventFilesSummary finish();

 private:
  void begin_file();
  void end_file();
  void write_pending();
  [[nodiscard]] std::filesystem::path next_path() const;
  void refuse_long(const EventHits& event, std::size_t bytes) const;

  std::unique_ptr<EventFormat> format_;
  EventFilesSettings settings_;
  EventFilesSummary summary_;
  std::optional<PartialFile> file_;
  std::uint64_t file_bytes_ = 0;   ///< written to it
  std::uint64_t file_events_ = 0;  ///< in it, pending ones included
  std::vector<std::byte> pending_;
};

}  // namespace eventloom
