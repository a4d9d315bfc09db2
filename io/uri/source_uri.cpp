#include "io/uri/source_uri.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Whether a character is quoted at `at`.
bool is_quoted(std::string_view text, std::size_t at) {
  return text[at] == '%' && at + 2 < text.size() && hexadecimal_digit(text[at + 1]) >= 0 &&
         hexadecimal_digit(text[at + 2]) >= 0;
}

std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool quoted = is_quoted(text, at);
    plain +=
        quoted ? static_cast<char>(hexadecimal_digit(text[at + 1]) << 4 | hexadecimal_digit(text[at + 2])) : text[at];
    if (quoted) at += 2;
  }
  return plain;
}

/// Quotes the characters of `reserved`, and whatever would be taken for a quoted one.
std::string quoted(std::string_view text, std::string_view reserved) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool plain = reserved.find(text[at]) == std::string_view::npos && !is_quoted(text, at);
    if (plain) {
      out += text[at];
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(text[at]);
      out += {'%', kDigits[byte / kDigits.size()], kDigits[byte % kDigits.size()]};
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) { return std::string(1, '\'').append(text).append(1, '\''); }

/// The end of the key that begins at `at`: the next &. Conditions are joined by &&.
std::size_t end_of_key(const std::string& text, std::size_t at) {
  auto end = text.find('&', at);
  const auto item = std::string_view(text).substr(at);
  if (!item.starts_with("where=") && !item.starts_with("overflow=")) return end;
  while (end != std::string::npos && text.compare(end, 2, "&&") == 0) end = text.find('&', end + 2);
  return end;
}

}  // namespace

SourceUri SourceUri::parse(const std::string& text, const std::string& role) {
  SourceUri uri;
  uri.role_ = role;
  const auto question = text.find('?');
  const std::string place = text.substr(0, question);
  const auto colon = place.find(':');
  if (colon != std::string::npos) uri.scheme_ = place.substr(0, colon);
  uri.path_ = unquoted(place.substr(colon == std::string::npos ? 0 : colon + 1));
  std::size_t at = question;
  while (at != std::string::npos) {
    const auto next = end_of_key(text, at + 1);
    const auto item = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const auto equals = item.find('=');
    if (item.empty() || equals == 0) {
      throw UserError(role + " '" + text + "': '" + item + "' is not of the form key=value");
    }
    const auto key = item.substr(0, equals);
    const auto value = equals == std::string::npos ? std::nullopt : std::optional(item.substr(equals + 1));
    if (!uri.values_.emplace(key, value).second)
      throw UserError(role + " '" + text + "': '" + key + "' is given twice");
    at = next;
  }
  uri.compose();
  return uri;
}

SourceUri SourceUri::of_path(const std::string& scheme, const std::string& path) {
  SourceUri uri;
  uri.scheme_ = scheme;
  uri.path_ = path;
  uri.compose();
  return uri;
}

std::string SourceUri::place(std::string_view group) const {
  const auto stated = get("group", group);
  return stated.empty() ? path_ : path_ + ":" + stated;
}

std::string SourceUri::get(std::string_view key, std::string_view otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(otherwise) : unquoted(found->second.value_or(""));
}

std::vector<std::string> SourceUri::get_list(std::string_view key) const {
  std::vector<std::string> items;
  const auto found = values_.find(key);
  const auto list = found == values_.end() ? std::string() : found->second.value_or("");
  for (std::size_t begin = 0; !list.empty() && begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    items.push_back(unquoted(std::string_view(list).substr(begin, end - begin)));
    begin = end + 1;
  }
  return items;
}

std::vector<std::string> SourceUri::flags() const {
  std::vector<std::string> alone;
  for (const auto& [key, value] : values_) {
    if (!value) alone.push_back(key);
  }
  return alone;
}

std::string SourceUri::require(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) refuse(in_quotes(std::string(key) + '=') + " is missing");
  return unquoted(found->second.value_or(""));
}

std::uint64_t SourceUri::get_count(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                   std::uint64_t high) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  try {
    const auto value = parse_count(unquoted(found->second.value_or("")));
    if (value >= low && value <= high) return value;
  } catch (const std::invalid_argument&) {
  }
  refuse(in_quotes(key) + " must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

bool SourceUri::get_yes(std::string_view key) const {
  const auto text = get(key, "no");
  if (text != "yes" && text != "no") refuse(std::string(key) + "=" + text + " is not known; use yes or no");
  return text == "yes";
}

TimeUnit SourceUri::get_unit(std::string_view key, std::uint64_t tick_ps) const {
  const auto text = get(key, "ns");
  if (text == "tick") return {shortest({tick_ps, 0}), 1};
  if (const auto unit = parse_unit(text)) return *unit;
  refuse(in_quotes(text) +
         " is not a unit of time; there are ps, ns, us, ms, s, tick, and lengths such as 12.5ns and 25/2ns");
}

void SourceUri::refuse(const std::string& reason) const { throw UserError(role_ + " '" + text_ + "': " + reason); }

void SourceUri::accept_only(std::span<const std::string_view> keys) const {
  std::string known;
  for (const auto key : keys) known += (known.empty() ? "" : ", ") + std::string(key);
  for (const auto& [key, value] : values_) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    refuse("unknown key '" + key + "'" + did_you_mean(key, keys) + "; " + scheme_ + ": takes " +
           (known.empty() ? "none" : known));
  }
}

SourceUri SourceUri::with_scheme(std::string_view scheme) const {
  SourceUri other = *this;
  other.scheme_ = scheme;
  other.compose();
  return other;
}

SourceUri SourceUri::with_path(const std::string& path) const {
  SourceUri other = *this;
  other.path_ = path;
  other.compose();
  return other;
}

SourceUri SourceUri::with(const std::string& key, const std::string& value) const {
  SourceUri other = *this;
  other.values_[key] = quoted(value, "&");
  other.compose();
  return other;
}

void SourceUri::compose() {
  text_ = (scheme_.empty() ? "" : scheme_ + ":") + quoted(path_, "?");
  char separator = '?';
  for (const auto& [key, value] : values_) {
    text_ += separator + key + (value ? "=" + *value : "");
    separator = '&';
  }
}

}  // namespace eventloom
