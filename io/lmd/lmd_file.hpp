#pragma once

#include <memory>
#include <span>
#include <string>

#include "io/files/file_reader.hpp"
#include "io/lmd/lmd_container.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/lmd/lmd_header.hpp"
#include "io/lmd/lmd_notes.hpp"

namespace eventloom {

/// Reads the events of an LMD file of either kind and byte order, in file order.
class LmdFile {
 public:
  /// Throws UserError when the file cannot be opened or is not an LMD file.
  explicit LmdFile(const std::string& path, Followed followed = nullptr);
  /// Whether the header of a growing file is complete, including that of the first buffer after it.
  static bool can_open(const std::string& path);

  /// Reads the next complete event, which is valid until the next call. Returns false when none is left, or at a pause.
  bool next(LmdEvent& event);
  /// Whether the next event of a followed file is incomplete.
  [[nodiscard]] bool pauses() const { return container_ != nullptr && container_->pauses(); }
  /// Problems found by the last next(), that is, before its event or the end; valid until the next call.
  [[nodiscard]] std::span<const LmdProblem> problems() const { return notes_.problems; }

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Size in bytes when the file was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] double share_read() const { return file_.share_read(); }
  [[nodiscard]] const LmdFileHeader& header() const { return header_; }
  /// Counts of the contents read so far.
  [[nodiscard]] const Counters& counters() const { return notes_.counters; }
  /// State of the index; known at the end of the file.
  [[nodiscard]] LmdIndexState index() const { return notes_.index; }

 private:
  void end();

  FileReader file_;
  std::uint64_t size_;
  LmdFileHeader header_;
  LmdNotes notes_;
  std::unique_ptr<LmdContainer> container_;  ///< null at the end
};

}  // namespace eventloom
