#include "io/compass/compass_text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;
constexpr std::size_t kShownOfText = 40;

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

template <class Number, class... Base>
bool parse(std::string_view text, Number& number, Base... base) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  return error == std::errc() && stop == text.data() + text.size();
}

/// Parses 16 bits, as in the binary file; negative energies are also accepted.
bool parse_energy(std::string_view text, std::uint16_t& energy) {
  std::int32_t value = 0;
  if (!parse(text, value) || value < INT16_MIN || value > UINT16_MAX) return false;
  energy = static_cast<std::uint16_t>(value);
  return true;
}

/// Flags other than 0 need the prefix 0x: without it, their base would be ambiguous.
bool parse_flags(std::string_view text, std::uint32_t& flags) {
  flags = 0;
  if (text == "0") return true;
  return (text.starts_with("0x") || text.starts_with("0X")) && parse(text.substr(2), flags, 16);
}

/// The member for the column with this name; null if it is not used.
std::size_t* place_of(CompassColumns& columns, std::string_view name) {
  if (name == "BOARD") return &columns.board;
  if (name == "CHANNEL") return &columns.channel;
  if (name == "TIMETAG") return &columns.time;
  if (name == "ENERGY") return &columns.energy;
  if (name == "CALIB_ENERGY") return &columns.calibrated;
  if (name == "ENERGYSHORT") return &columns.energy_short;
  if (name == "FLAGS") return &columns.flags;
  return nullptr;
}

std::string defect_of(const CompassColumns& columns) {
  if (columns.flags == CompassColumns::kNone) return "the header has no column FLAGS";
  if (columns.energy == CompassColumns::kNone && columns.calibrated == CompassColumns::kNone) {
    return "the header has neither ENERGY nor CALIB_ENERGY";
  }
  return "";
}

void enter(CompassColumns& columns, std::string_view name) {
  if (columns.samples) columns.defect = "SAMPLES is not the last column of the header";
  columns.samples = columns.samples || name == "SAMPLES";
  if (name == "SAMPLES") return;
  auto* const place = place_of(columns, name);
  if (place == nullptr && name != "PROBE_CODE" && !name.empty()) columns.unread.emplace_back(name);
  if (place != nullptr && *place != CompassColumns::kNone) {
    columns.defect = fmt::format("the header names {} twice", name);
  }
  if (place != nullptr) *place = columns.count;
  ++columns.count;
}

}  // namespace

std::optional<CompassColumns> CompassColumns::of_header(std::string_view line) {
  CompassColumns columns;
  line = without_blanks(without_byte_order_mark(line));
  columns.header = line;
  columns.separator = line.find(';') == std::string_view::npos ? ',' : ';';
  while (!line.empty()) {
    const auto end = std::min(line.find(columns.separator), line.size());
    enter(columns, without_blanks(line.substr(0, end)));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  const bool known = columns.board != kNone && columns.channel != kNone && columns.time != kNone;
  if (!known) return std::nullopt;
  if (columns.defect.empty()) columns.defect = eventloom::defect_of(columns);
  return columns;
}

CompassTextFile::CompassTextFile(const SourceUri& uri, Followed followed)
    : CompassFile(uri.path(), std::move(followed)) {
  read_header(uri);
  if (!columns_.defect.empty()) {
    uri.refuse(columns_.defect +
               "; what CoMPASS has not written is read by csv:, with time=TIMETAG&channel=CHANNEL&unit=ps");
  }
  format_.energy = columns_.energy != CompassColumns::kNone;
  format_.calibrated = columns_.calibrated != CompassColumns::kNone;
  format_.energy_short = columns_.energy_short != CompassColumns::kNone;
}

std::string CompassTextFile::remark() const {
  const auto unread = fmt::format("; columns not read: {}", joined(columns_.unread, ", "));
  return "a table of CoMPASS: TIMETAG in ps, BOARD in the channel" + (columns_.unread.empty() ? "" : unread);
}

void CompassTextFile::read_header(const SourceUri& uri) {
  const auto key = CompassColumns::of_header(uri.get("header", ""));
  std::string_view line;
  const auto own = next_line(line) ? CompassColumns::of_header(line) : std::nullopt;
  if (own && uri.has("header") && (!key || key->header != own->header)) {
    uri.refuse("header=" + uri.get("header", "") + ", but the file begins with " +
               own->header.substr(0, 2 * kShownOfText) + ", a header of its own: omit header=");
  }
  columns_ = own ? *own : *key;
  if (own) return;
  line_bytes_ = 0;  // the line is a record, still to be read
  line_number_ = 0;
}

/// Returns false at the end. Returns the part read so far of a line that has no end or is absurdly long.
bool CompassTextFile::next_line(std::string_view& line) {
  constexpr std::size_t kStep = std::size_t{4} << 10;
  file_.skip(line_bytes_);
  for (std::size_t wanted = kStep;; wanted *= 4) {
    const auto bytes = file_.front(wanted);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto end = text.find('\n');
    const bool all = bytes.size() >= file_.left() || bytes.size() >= kMostLineBytes;
    if (end == std::string_view::npos && !all) continue;
    line_ends_ = end != std::string_view::npos;
    line = text.substr(0, end);
    line_bytes_ = line.size() + (line_ends_ ? 1 : 0);
    if (line_bytes_ == 0) return false;
    ++line_number_;
    if (line_number_ == 1) line = without_byte_order_mark(line);
    return true;
  }
}

/// Whether the next line of a followed file is incomplete.
bool CompassTextFile::awaits_line() {
  file_.skip(std::exchange(line_bytes_, 0));
  std::uint64_t searched = 0;
  for (std::size_t wanted = 1;; wanted = searched + 1) {
    if (file_.awaits(wanted)) return true;
    const auto bytes = file_.front(wanted);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (bytes.size() < wanted || bytes.size() >= kMostLineBytes || text.find('\n', searched) != std::string_view::npos)
      return false;
    searched = bytes.size();
  }
}

CompassFile::Item CompassTextFile::damaged(std::string defect) {
  defect_ = std::move(defect);
  return Item::damage;
}

CompassFile::Item CompassTextFile::next() {
  std::string_view line;
  if (awaits_line()) return Item::pause;
  while (next_line(line)) {
    if (line_bytes_ >= kMostLineBytes) return damaged("more than 1 MiB without the end of a line is not a record");
    if (!line_ends_) {
      defect_ = place() + " is cut: the file ends before the end of the line";
      return Item::end;
    }
    line = without_blanks(line);
    if (line.empty() || line == columns_.header) {
      if (awaits_line()) return Item::pause;
      continue;
    }
    auto defect = defect_of(line);
    if (!defect.empty()) return damaged(std::move(defect));
    return Item::record;
  }
  defect_.clear();
  return Item::end;
}

void CompassTextFile::split(std::string_view line) {
  fields_.clear();
  for (std::size_t end = 0; end != std::string_view::npos && fields_.size() <= columns_.count;) {
    end = line.find(columns_.separator);
    fields_.push_back(without_blanks(line.substr(0, end)));
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
  const bool ends_with_separator = fields_.size() > columns_.count && fields_.back().empty();
  if (ends_with_separator || columns_.samples) fields_.resize(std::min(fields_.size(), columns_.count));
}

/// Reads the record in a line. Returns the defect if it is not a record, else an empty string.
std::string CompassTextFile::defect_of(std::string_view line) {
  split(line);
  if (fields_.size() != columns_.count) {
    return fmt::format("the line has {} columns, the header {}",
                       fields_.size() > columns_.count ? "more" : std::to_string(fields_.size()), columns_.count);
  }
  std::string defect;
  const auto read = [&](std::size_t column, const char* what, auto parse_field, auto& number) {
    if (column == CompassColumns::kNone || !defect.empty() || parse_field(fields_[column], number)) return;
    defect = fmt::format("'{}' is not {}", fields_[column].substr(0, kShownOfText), what);
  };
  const auto whole = [](std::string_view text, auto& number) { return parse(text, number); };
  record_ = {};
  read(columns_.board, "a board", whole, record_.board);
  read(columns_.channel, "a channel", whole, record_.channel);
  read(columns_.time, "a time, a whole number of ps", whole, record_.time_ps);
  read(columns_.energy, "an energy, a whole number of 16 bits", parse_energy, record_.energy);
  read(columns_.calibrated, "a calibrated energy", whole, record_.calibrated);
  read(columns_.energy_short, "an energy, a whole number of 16 bits", parse_energy, record_.energy_short);
  read(columns_.flags, "flags, such as 0x4000", parse_flags, record_.flags);
  return defect;
}

bool begins_compass_text(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return CompassColumns::of_header(text.substr(0, text.find('\n'))).has_value();
}

}  // namespace eventloom
