#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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
/// in any order, without those that were not saved, and with semicolons or commas. TIMETAG is in ps, FLAGS is
/// hexadecimal, CALIB_ENERGY decimal. SAMPLES stands for as many columns as a waveform has, the last ones.
struct CompassColumns {
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::string header;  ///< the line
  char separator = ';';
  std::size_t board = kNone;
  std::size_t channel = kNone;
  std::size_t time = kNone;
  std::size_t energy = kNone;
  std::size_t calibrated = kNone;
  std::size_t energy_short = kNone;
  std::size_t flags = kNone;
  std::size_t count = 0;  ///< of all, without SAMPLES
  bool samples = false;   ///< any number of columns follow
  std::vector<std::string> unread;
  std::string defect;  ///< why such a file cannot be read; empty when it can

  /// Nothing when the line does not name board, channel and time as CoMPASS does.
  static std::optional<CompassColumns> of_header(std::string_view line);
};

/// Text list mode. A line that is not a record is damage; a last line without its end is cut. A header in the middle,
/// as in files that were joined, is passed over.
class CompassTextFile final : public CompassFile {
 public:
  explicit CompassTextFile(const SourceUri& uri);

  Item next() override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string place() const override { return "line " + std::to_string(line_number_); }

 private:
  void read_header(const SourceUri& uri);
  bool next_line(std::string_view& line);
  Item damaged(std::string defect);
  [[nodiscard]] std::string defect_of(std::string_view line);
  void split(std::string_view line);

  CompassColumns columns_;
  std::vector<std::string_view> fields_;  ///< of the line, and one more if it has more than there are columns
  std::uint64_t line_number_ = 0;
  std::uint64_t line_bytes_ = 0;  ///< of the current line, with its end
  bool line_ends_ = true;         ///< the current line has its end
};

/// Whether the first line of a file is such a header.
bool is_compass_text(const std::filesystem::path& file);

}  // namespace eventloom
