#include "app/tools/align/aligned_map.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "app/command/safe_text.hpp"
#include "core/detector/csv_table.hpp"
#include "core/detector/source_in_map.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kFirstLine = "# Offsets found by 'eventloom align'";

/// The columns of the new rows.
struct Columns {
  std::string unit = "ns";  ///< unit of the offsets, as in offset_ns
  double per_tick = 1;      ///< number of these units in a tick
  std::vector<std::string> names;
};

double ps_of(const std::string& unit, std::uint64_t tick_ps) {
  if (unit == "ps") return 1;
  if (unit == "ns") return 1e3;
  return unit == "us" ? 1e6 : static_cast<double>(tick_ps);
}

Columns columns_of(const DetectorMap& given, std::uint64_t tick_ps) {
  Columns columns;
  const auto lines = parse_csv(given.text);
  if (!lines.empty()) columns.names = lines.front().fields;
  constexpr std::string_view kOffset = "offset_";
  for (const auto& name : columns.names) {
    const bool is_offset = name.starts_with(kOffset) && !name.starts_with("offset_error_");
    if (is_offset) columns.unit = name.substr(kOffset.size());
  }
  columns.per_tick = static_cast<double>(tick_ps) / ps_of(columns.unit, tick_ps);
  for (const auto& name :
       {std::string("source"), std::string("channel"), "offset_" + columns.unit, "offset_error_" + columns.unit,
        "drift_" + columns.unit + "_per_s", "drift_error_" + columns.unit + "_per_s"}) {
    if (std::ranges::find(columns.names, name) == columns.names.end()) columns.names.push_back(name);
  }
  return columns;
}

std::string line_of(const std::vector<std::string>& fields) { return joined(fields, ",") + "\n"; }

/// The lines of the given map, its header with the new columns and its rows as long as the header.
std::string given_lines(const DetectorMap& given, const Columns& columns) {
  std::string text;
  bool header = true;
  std::string_view rest = given.text;
  const auto lines = parse_csv(given.text);
  const std::size_t width = lines.empty() ? 0 : lines.front().fields.size();
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') {
      if (!line.starts_with(kFirstLine)) text.append(line).append("\n");
    } else if (header) {
      text += line_of(columns.names);
      header = false;
    } else {
      text.append(line).append(std::string(columns.names.size() - width, ',')).append("\n");
    }
  }
  return header ? text + line_of(columns.names) : text;
}

/// Channels of one source, from `low` to `high`, that had the same offset and get the same.
struct Piece {
  std::uint16_t source = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::int64_t offset = 0;  ///< ticks, of the given map
};

constexpr std::uint32_t kLastChannel = 0xfffffff;

/// A unit that is a whole source has all its channels, also those without hits.
std::vector<Piece> pieces_of(const Alignment& alignment, std::size_t unit, const Detector& detector) {
  std::vector<Piece> pieces;
  const auto channels = alignment.units.channels(unit);
  if (alignment.units.by() == AlignBy::source) {
    const auto source = channels.front().first;
    detector.visit(source, [&](std::uint32_t low, const ChannelInfo& info) {
      if (!pieces.empty()) pieces.back().high = low - 1;
      if (pieces.empty() || pieces.back().offset != info.offset)
        pieces.push_back({source, low, kLastChannel, info.offset});
      pieces.back().high = kLastChannel;
    });
    return pieces.empty() ? std::vector<Piece>{{source, 0, kLastChannel, 0}} : pieces;
  }
  for (const auto& [source, channel] : channels) {
    const std::int64_t offset = detector.at(source, channel).offset;
    const bool continues = !pieces.empty() && pieces.back().source == source && pieces.back().high + 1 == channel &&
                           pieces.back().offset == offset;
    if (continues) {
      pieces.back().high = channel;
    } else {
      pieces.push_back({source, channel, channel, offset});
    }
  }
  return pieces;
}

std::string channels_text(const Piece& piece) {
  if (piece.low == 0 && piece.high == kLastChannel) return "";
  return piece.low == piece.high ? std::to_string(piece.low) : fmt::format("{}-{}", piece.low, piece.high);
}

/// At most six decimals, without zeros at the end.
std::string number(double value) {
  auto text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string aligned_map(const DetectorMap& given, const Detector& detector, const std::vector<std::string>& sources,
                        const Alignment& alignment, std::uint64_t tick_ps) {
  const auto columns = columns_of(given, tick_ps);
  std::string text =
      fmt::format("{}, relative to {}.\n", kFirstLine, for_terminal(alignment.units.name(alignment.reference)));
  text += given_lines(given, columns);
  const auto set = [&](std::vector<std::string>& fields, const std::string& name, const std::string& value) {
    fields[static_cast<std::size_t>(std::ranges::find(columns.names, name) - columns.names.begin())] = value;
  };
  for (std::size_t unit = 0; unit < alignment.found.size(); ++unit) {
    const auto& found = alignment.found[unit];
    if (!found.offset) continue;
    for (const auto& piece : pieces_of(alignment, unit, detector)) {
      std::vector<std::string> fields(columns.names.size());
      set(fields, "source", source_in_map(sources, piece.source));
      set(fields, "channel", channels_text(piece));
      set(fields, "offset_" + columns.unit,
          number((static_cast<double>(piece.offset) + found.offset->value) * columns.per_tick));
      set(fields, "offset_error_" + columns.unit, number(found.offset->error * columns.per_tick));
      if (found.drift) {
        set(fields, "drift_" + columns.unit + "_per_s", number(found.drift->value * columns.per_tick));
        set(fields, "drift_error_" + columns.unit + "_per_s", number(found.drift->error * columns.per_tick));
      }
      text += line_of(fields);
    }
  }
  return text;
}

bool is_aligned_map(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string begin(kFirstLine.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return in && begin == kFirstLine;
}

}  // namespace eventloom
