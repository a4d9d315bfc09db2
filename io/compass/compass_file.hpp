#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "io/compass/compass_record.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

/// Reads the records of a CoMPASS file of either form one by one.
class CompassFile {
 public:
  /// Throws UserError when the file cannot be opened.
  CompassFile(const std::string& path, Followed followed) : file_(path, std::move(followed)) {}
  virtual ~CompassFile() = default;
  CompassFile(const CompassFile&) = delete;
  CompassFile& operator=(const CompassFile&) = delete;

  enum class Item : std::uint8_t { record, damage, pause, end };
  /// Advances to the next item, which is then at the front of the file. A followed file pauses while the next record is
  /// incomplete.
  virtual Item next() = 0;
  /// Remarks on how the file is read; empty if there are none.
  [[nodiscard]] virtual std::string remark() const { return ""; }
  /// Position of the item for messages: "line 7".
  [[nodiscard]] virtual std::string place() const = 0;

  /// Valid after Item::record.
  [[nodiscard]] const CompassRecord& record() const { return record_; }
  /// After Item::damage, the defect; after Item::end, how the file ends inside a record, or empty if it does not.
  [[nodiscard]] const std::string& defect() const { return defect_; }
  /// The fields of the records.
  [[nodiscard]] const CompassFormat& format() const { return format_; }
  [[nodiscard]] const FileReader& file() const { return file_; }

 protected:
  FileReader file_;
  CompassFormat format_;
  CompassRecord record_;
  std::string defect_;
};

}  // namespace eventloom
