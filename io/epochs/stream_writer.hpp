#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "formats/stream_file.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// What a finished stream file holds.
struct StreamSummary {
  std::uint64_t buffers = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  Tick first_tick = 0;
  Tick last_tick = 0;
};

/// Whether the file begins as an `.epochs` file does, finished or not.
bool is_stream_file(const std::filesystem::path& file);

/// Writes one `.epochs` file, a PartialFile until finish() gives it its name. Errors throw UserError with file and
/// reason.
class StreamWriter {
 public:
  /// `ours`: what gives way to it, finished or not.
  StreamWriter(const std::string& path, const StreamHeader& header, Recognise ours = is_stream_file);
  /// Removes what is unfinished.
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// Appends whole stored epoch buffers, in rising epochs; gives them their place in this file.
  void append(std::span<const std::byte> buffers);
  /// Leaves what has been written where it is, under its name for what is unfinished: readable by scanning.
  void abandon();
  /// Writes the index, waits for the disk, renames.
  StreamSummary finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace eventloom
