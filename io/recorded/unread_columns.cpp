#include "io/recorded/unread_columns.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace eventloom {

namespace {

/// The first of these texts, up to `most` bytes but at least one, and the number of the others.
std::string first_of(std::span<const std::string> texts, std::size_t most) {
  std::string list;
  std::size_t n = 0;
  for (const auto& text : texts) {
    if (n > 0 && list.size() + text.size() > most) break;
    list += (n++ == 0 ? "" : ", ") + text;
  }
  if (list.size() > most) list = list.substr(0, most) + "...";
  if (n < texts.size()) list += " and " + std::to_string(texts.size() - n) + " more";
  return list;
}

/// Columns that the same sources have.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::string> sources;
};

std::vector<Columns> by_sources(std::span<const UnreadColumns> sources) {
  std::vector<Columns> columns;  // each has one name; in the order found
  std::map<std::string, std::size_t> places;
  for (const auto& source : sources) {
    for (const auto& name : source.columns) {
      const auto [place, is_new] = places.try_emplace(name, columns.size());
      if (is_new) columns.push_back({{name}, {}});
      columns[place->second].sources.push_back(source.source);
    }
  }
  std::vector<Columns> joined;
  for (auto& column : columns) {
    auto same = std::ranges::find(joined, column.sources, &Columns::sources);
    if (same == joined.end()) {
      joined.push_back(std::move(column));
    } else {
      same->names.push_back(column.names.front());
    }
  }
  return joined;
}

}  // namespace

std::string unread_message(std::span<const UnreadColumns> sources) {
  constexpr std::size_t kColumnBytes = 140;
  constexpr std::size_t kSourceBytes = 60;
  constexpr std::size_t kListBytes = 360;
  constexpr const char* kNotRead = "columns not read: ";
  constexpr const char* kAdvice = "; payload=COLUMN,... keeps those that are payload";
  const auto alike = by_sources(sources);
  if (alike.empty()) return {};
  if (alike.size() == 1) {
    const auto& all = alike.front();
    return first_of(all.sources, kSourceBytes) + ": " + kNotRead + first_of(all.names, kColumnBytes) + kAdvice;
  }
  std::vector<std::string> groups;
  for (const auto& columns : alike) {
    groups.push_back(first_of(columns.names, kColumnBytes) + " (" + first_of(columns.sources, kSourceBytes) + ")");
  }
  return kNotRead + first_of(groups, kListBytes) + kAdvice;
}

}  // namespace eventloom
