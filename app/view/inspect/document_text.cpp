#include "app/view/inspect/document_text.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Maximum length of a printed list of problems; the document contains all of them.
constexpr std::size_t kShownProblems = 20;

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Prints each text of a list on its own line.
std::string lines_of(const Json& value) {
  const bool texts = value.is_array() && !value.empty() && value.front().is_string();
  if (!texts) return text_of(value);
  std::string lines;
  for (const auto& text : value) lines += text.get<std::string>() + '\n';
  return lines;
}

/// Prints "name  value", with further lines of the text aligned below.
void print_pair(std::ostream& out, int indent, const std::string& name, const std::string& value) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = value;
  while (text.ends_with('\n')) text.pop_back();
  std::string lines;
  for (const char c : text) lines += c == '\n' ? "\n" + margin + std::string(30, ' ') : std::string(1, c);
  out << margin << fmt::format("{:<30}", name + ' ') << lines << '\n';
}

/// Whether a value of an item is a list of objects, which take one line each.
bool has_parts(const Json& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

/// Prints an item of a list on its own line.
void print_item(std::ostream& out, const Json& item) {
  out << "   ";
  if (!item.is_object()) out << ' ' << text_of(item);
  if (item.is_object()) {
    for (const auto& [name, value] : item.items()) {
      if (!has_parts(value)) out << ' ' << name << ' ' << text_of(value);
    }
  }
  out << '\n';
  if (!item.is_object()) return;
  for (const auto& value : item) {
    if (!has_parts(value)) continue;
    for (const auto& part : value) {
      out << "  ";
      print_item(out, part);
    }
  }
}

void print_list(std::ostream& out, const std::string& name, const Json& list) {
  out << "  " << name << (list.empty() ? ": none" : "") << '\n';
  const bool cut = name == "problems" || name == "damage";
  const std::size_t shown = cut ? std::min(list.size(), kShownProblems) : list.size();
  for (std::size_t i = 0; i < shown; ++i) print_item(out, list[i]);
  if (shown < list.size()) out << "    and " << list.size() - shown << " more, see --json\n";
}

void print(std::ostream& out, const Json& json) {
  out << json["file"].get<std::string>() << '\n';
  for (const auto& [name, value] : json.items()) {
    if (name == "file") continue;
    if (value.is_array()) {
      print_list(out, name, value);
    } else if (value.is_object()) {
      out << "  " << name << (value.empty() ? ": none" : "") << '\n';
      for (const auto& [key, item] : value.items()) print_pair(out, 4, key, lines_of(item));
    } else {
      print_pair(out, 2, name, text_of(value));
    }
  }
}

}  // namespace

std::string text_of_document(const Json& document) {
  std::ostringstream text;
  print(text, document);
  return lines_for_terminal(text.str());
}

}  // namespace eventloom
