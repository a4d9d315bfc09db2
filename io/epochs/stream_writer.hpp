#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "formats/stream_file.hpp"
#include "io/epochs/stream_layout.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Whether the file begins like an `.epochs` file, finished or not.
bool is_stream_file(const std::filesystem::path& file);
/// Likewise, given the first bytes of a file's contents, which may be compressed.
bool begins_stream_file(std::span<const std::byte> head);

/// Writes one `.epochs` file. It is a PartialFile until finish() renames it. Errors throw UserError with file and
/// reason.
class StreamWriter {
 public:
  /// `ours`: which files it may replace, finished or not.
  StreamWriter(const std::string& path, const StreamHeader& header, Recognise ours = is_stream_file);
  /// Removes an unfinished file.
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// Appends whole stored epoch buffers in ascending epochs, and updates their headers to their offset in this file.
  void append(std::span<const std::byte> buffers);
  /// Keeps the unfinished file under its partial name; it can be read by scanning.
  void abandon();
  /// Writes the index, waits for the disk, and renames the file.
  StreamSummary finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace eventloom
