#pragma once

#include <cstdint>
#include <string>

#include "io/compass/compass_record.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

/// The records of a CoMPASS file of either form, one after the other.
class CompassFile {
 public:
  /// Throws UserError when the file cannot be opened.
  explicit CompassFile(const std::string& path) : file_(path) {}
  virtual ~CompassFile() = default;
  CompassFile(const CompassFile&) = delete;
  CompassFile& operator=(const CompassFile&) = delete;

  enum class Item : std::uint8_t { record, damage, end };
  /// Moves to the next item, which then lies at the front of the file.
  virtual Item next() = 0;
  /// How it is read, where that does not go without saying; otherwise empty.
  [[nodiscard]] virtual std::string remark() const { return ""; }
  /// Where the item is, for messages: "line 7".
  [[nodiscard]] virtual std::string place() const = 0;

  /// After Item::record.
  [[nodiscard]] const CompassRecord& record() const { return record_; }
  /// After Item::damage, what is wrong; after Item::end, how the file ends inside a record, or nothing when it does
  /// not.
  [[nodiscard]] const std::string& defect() const { return defect_; }
  /// What the records have.
  [[nodiscard]] const CompassFormat& format() const { return format_; }
  [[nodiscard]] const FileReader& file() const { return file_; }

 protected:
  FileReader file_;
  CompassFormat format_;
  CompassRecord record_;
  std::string defect_;
};

}  // namespace eventloom
