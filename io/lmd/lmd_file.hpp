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

/// The events of one LMD file of either kind and byte order, in the order of the file.
class LmdFile {
 public:
  /// Throws UserError when the file cannot be opened or is no LMD file.
  explicit LmdFile(const std::string& path);

  /// The next whole event; false when there are none left. `event` is valid until the next call.
  bool next(LmdEvent& event);
  /// Problems found between the previous event and that of the last next(), or the end; valid until the next call.
  [[nodiscard]] std::span<const LmdProblem> problems() const { return notes_.problems; }

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Bytes, when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] double share_read() const { return file_.share_read(); }
  [[nodiscard]] const LmdFileHeader& header() const { return header_; }
  /// Of the part read so far.
  [[nodiscard]] const Counters& counters() const { return notes_.counters; }
  /// Known at the end.
  [[nodiscard]] LmdIndexState index() const { return notes_.index; }

 private:
  void end();

  FileReader file_;
  std::uint64_t size_;
  LmdFileHeader header_;
  LmdNotes notes_;
  std::unique_ptr<LmdContainer> container_;  ///< none at the end
};

}  // namespace eventloom
