#include "core/detector/csv_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "formats/quoted_field.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMostBytes = 1000;  ///< maximum length of a field

/// Reads a text from its beginning to its end.
class CsvParser {
 public:
  explicit CsvParser(std::string_view text) : rest_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  std::vector<CsvLine> lines() {
    std::vector<CsvLine> all;
    while (!rest_.empty()) {
      skip_blanks();
      if (rest_.starts_with('#') || at_line_end()) {
        skip_line();
      } else {
        all.push_back(line());
      }
    }
    return all;
  }

 private:
  [[nodiscard]] bool at_line_end() const {
    return rest_.empty() || rest_.front() == '\n' || rest_ == "\r" || rest_.starts_with("\r\n");
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  void skip_line() {
    const auto end = rest_.find('\n');
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
  }

  CsvLine line() {
    CsvLine line{number_, {}};
    for (;;) {
      line.fields.push_back(field());
      if (line.fields.back().size() > kMostBytes) {
        throw std::invalid_argument("line " + std::to_string(number_) + ": a field is longer than " +
                                    std::to_string(kMostBytes) + " bytes");
      }
      if (!rest_.starts_with(',')) break;
      rest_.remove_prefix(1);
    }
    skip_line();
    return line;
  }

  std::string field() {
    skip_blanks();
    if (rest_.starts_with('"')) return quoted();
    auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
    auto text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (const auto control = std::ranges::find_if(text, is_control); control != text.end()) refuse_control(*control);
    const auto last = text.find_last_not_of(kBlanks);
    return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
  }

  std::string quoted() {
    const auto end = closing_quote(rest_);
    const auto inside = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
    if (const auto control = std::ranges::find_if(inside, is_control); control != inside.end()) {
      refuse_control(*control);
    }
    if (end == std::string_view::npos) {
      throw std::invalid_argument("line " + std::to_string(number_) + ": a quote is not closed");
    }
    auto text = with_single_quotes(inside);
    rest_.remove_prefix(end + 1);
    skip_blanks();
    if (!at_line_end() && rest_.front() != ',') {
      throw std::invalid_argument("line " + std::to_string(number_) + ": text follows a closed quote");
    }
    if (rest_.starts_with('\r')) rest_.remove_prefix(1);
    return text;
  }

  static bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

  [[noreturn]] void refuse_control(char c) const {
    throw std::invalid_argument("line " + std::to_string(number_) + ": a " +
                                (c == '\n' ? "line break in a quoted field" : "control character") + " is not text");
  }

  std::string_view rest_;
  std::uint64_t number_ = 1;
};

}  // namespace

std::vector<CsvLine> parse_csv(std::string_view text) { return CsvParser(text).lines(); }

}  // namespace eventloom
