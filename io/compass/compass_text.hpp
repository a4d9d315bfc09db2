#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/compass/compass_file.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The columns of CoMPASS's text list mode (UM5960, "CSV file format"), from its first line:
///
///   BOARD;CHANNEL;TIMETAG;ENERGY;CALIB_ENERGY;ENERGYSHORT;FLAGS;PROBE_CODE;SAMPLES
///
/// in any order, without the columns that were not saved, separated by semicolons or commas. TIMETAG is in ps, FLAGS is
/// hexadecimal, CALIB_ENERGY decimal. SAMPLES comes last and stands for one column per sample of the waveform.
struct CompassColumns {
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::string header;  ///< the header line
  char separator = ';';
  std::size_t board = kNone;
  std::size_t channel = kNone;
  std::size_t time = kNone;
  std::size_t energy = kNone;
  std::size_t calibrated = kNone;
  std::size_t energy_short = kNone;
  std::size_t flags = kNone;
  std::size_t count = 0;  ///< number of columns without SAMPLES
  bool samples = false;   ///< any number of further columns follow
  std::vector<std::string> unread;
  std::string defect;  ///< why such a file cannot be read; empty when it can

  /// std::nullopt when the line does not name board, channel and time as CoMPASS does.
  static std::optional<CompassColumns> of_header(std::string_view line);
};

/// Text list mode. A line that is not a record is damage; a last line without a line end is incomplete. Headers in the
/// middle, as in concatenated files, are skipped.
class CompassTextFile final : public CompassFile {
 public:
  CompassTextFile(const SourceUri& uri, Followed followed);

  Item next() override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string place() const override { return "line " + std::to_string(line_number_); }

 private:
  void read_header(const SourceUri& uri);
  bool next_line(std::string_view& line);
  [[nodiscard]] bool awaits_line();
  Item damaged(std::string defect);
  [[nodiscard]] std::string defect_of(std::string_view line);
  void split(std::string_view line);

  CompassColumns columns_;
  std::vector<std::string_view> fields_;  ///< fields of the line: at most one more than there are columns
  std::uint64_t line_number_ = 0;
  std::uint64_t line_bytes_ = 0;  ///< size of the current line, with its end
  bool line_ends_ = true;         ///< the current line has a line end
};

/// Whether the first line of a file that begins with `head` is such a header.
bool begins_compass_text(std::span<const std::byte> head);

}  // namespace eventloom
