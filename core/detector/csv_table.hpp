#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// A line of a CSV table.
struct CsvLine {
  std::uint64_t number = 0;  ///< counted from 1
  std::vector<std::string> fields;
};

/// The lines of a CSV text (RFC 4180). Fields are separated by commas, surrounding blanks are ignored; quoted fields
/// may contain commas and doubled quotes, but no line breaks. A byte order mark, empty lines and lines that begin with
/// '#' are skipped. Throws std::invalid_argument that names the line.
std::vector<CsvLine> parse_csv(std::string_view text);

}  // namespace eventloom
