#include "io/compass/compass_binary.hpp"

#include <charconv>
#include <cstring>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Parses a hexadecimal number of 16 bits; 0 if the text is not one.
std::uint16_t hexadecimal(const std::string& text) {
  std::uint16_t value = 0;
  const char* const begin = text.data() + (text.starts_with("0x") || text.starts_with("0X") ? 2 : 0);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  return error == std::errc() && stop == end ? value : 0;
}

}  // namespace

CompassBinaryFile::CompassBinaryFile(const SourceUri& uri, Followed followed)
    : CompassFile(uri.path(), std::move(followed)) {
  read_format(uri);
}

/// The first two bytes; 0 if the file is shorter.
std::uint16_t CompassBinaryFile::first_two_bytes() {
  std::uint16_t header = 0;
  const auto bytes = file_.front(sizeof header);
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// A record cannot be mistaken for a header, whose bytes would be an impossible board.
void CompassBinaryFile::read_format(const SourceUri& uri) {
  const auto key = uri.get("header", "");
  const auto own = first_two_bytes();
  const bool has_own = CompassFormat::of_header(own).has_value();
  const auto header = key.empty() ? own : hexadecimal(key);
  if (has_own && header != own) {
    uri.refuse(
        fmt::format("header={}, but the file begins with 0x{:04X}, a header of its own: omit header=", key, own));
  }
  if (has_own) file_.skip(sizeof own);
  if (!has_own && !key.empty()) remark_ = "the file has no header of its own: its records are read as header=" + key;
  if (key == "old") {
    format_ = CompassFormat::old();
    return;
  }
  const auto format = CompassFormat::of_header(header);
  if (!format && !key.empty()) {
    uri.refuse("header=" + key + " is not known; use 0xCAE1 to 0xCAEF, old, or the columns BOARD;CHANNEL;TIMETAG;...");
  }
  if (!format) {
    uri.refuse(
        "the file begins neither with the two bytes of CoMPASS, 0xCAEx, nor with the names of its columns: add "
        "?header=old for files from before version 2. For a later file of a split run, name the first one in the same "
        "pattern, as in compass:run_*.bin, or add ?header=0xCAEx or, of text, the first line of the first file: "
        "?header=BOARD;CHANNEL;TIMETAG;...");
  }
  format_ = *format;
}

CompassFile::Item CompassBinaryFile::next() {
  file_.skip(item_bytes_);
  item_bytes_ = 0;
  const std::size_t fixed = format_.fixed_bytes();
  if (file_.awaits(fixed)) return Item::pause;
  const auto bytes = file_.front(fixed);
  const bool cut = bytes.size() < fixed;
  if (!cut) record_ = read_compass_record(format_, bytes);
  const std::uint64_t size = fixed + std::uint64_t{2} * record_.samples;
  if (!cut && file_.awaits(size)) return Item::pause;
  if (cut || size > file_.left()) {
    defect_ = file_.left() == 0 ? "" : fmt::format("the file ends {} bytes into a record", file_.left());
    return Item::end;
  }
  item_bytes_ = size;
  return Item::record;
}

}  // namespace eventloom
