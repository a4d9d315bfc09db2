#include "io/sources/source_uri.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

constexpr std::array<std::string_view, 11> kSchemes = {"file",   "csv",    "hdf5", "lmd", "hld", "spikes",
                                                       "packed", "sorted", "gen",  "mbs", "udp"};
/// Keys that need no value.
constexpr std::array<std::string_view, 2> kFlags = {"concat", "tdc"};
/// Endings of names that tell the scheme.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEndings = {
    {{".epochs", "file"}, {".lmd", "lmd"}, {".hld", "hld"}, {".spikes", "spikes"}}};

bool is_flag(std::string_view key) { return std::ranges::find(kFlags, key) != kFlags.end(); }

std::string scheme_by_ending(std::string_view path) {
  for (const auto& [ending, scheme] : kEndings) {
    if (path.ends_with(ending)) return std::string(scheme);
  }
  return {};
}

std::string known_schemes() {
  std::string list;
  for (const auto scheme : kSchemes) list += (list.empty() ? "" : ", ") + std::string(scheme) + ":";
  return list;
}

}  // namespace

SourceUri SourceUri::parse(const std::string& text) {
  SourceUri uri;
  const auto question = text.find('?');
  const std::string place = text.substr(0, question);
  const auto colon = place.find(':');
  if (colon == std::string::npos) {
    uri.scheme_ = scheme_by_ending(place);
    uri.path_ = place;
  } else {
    uri.scheme_ = place.substr(0, colon);
    uri.path_ = place.substr(colon + 1);
  }
  if (std::ranges::find(kSchemes, uri.scheme_) == kSchemes.end()) {
    throw UserError("source '" + text + "': unknown kind; this build reads " + known_schemes());
  }
  if (uri.path_.empty()) throw UserError("source '" + text + "': nothing behind '" + uri.scheme_ + ":'");
  std::size_t at = question;
  while (at != std::string::npos) {
    const auto next = text.find('&', at + 1);
    const auto item = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const auto equals = item.find('=');
    if (equals == 0 || (equals == std::string::npos && !is_flag(item))) {
      throw UserError("source '" + text + "': '" + item + "' is not of the form key=value");
    }
    uri.values_[item.substr(0, equals)] = equals == std::string::npos ? "" : item.substr(equals + 1);
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

std::string SourceUri::get(std::string_view key, std::string_view otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

std::string SourceUri::require(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw UserError("source '" + text_ + "': '" + std::string(key) + "=' is missing");
  return found->second;
}

std::uint64_t SourceUri::get_count(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                   std::uint64_t high) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  try {
    const auto value = parse_count(found->second);
    if (value >= low && value <= high) return value;
  } catch (const std::invalid_argument&) {
  }
  throw UserError("source '" + text_ + "': '" + std::string(key) + "' must be a whole number from " +
                  std::to_string(low) + " to " + std::to_string(high));
}

std::uint64_t SourceUri::get_unit_ps(std::string_view key, std::uint64_t tick_ps) const {
  const auto unit = get(key, "ns");
  if (unit == "tick") return tick_ps;
  const auto ps = picoseconds_of(unit);
  if (!ps) {
    throw UserError("source '" + text_ + "': '" + unit + "' is not a unit of time; there are ps, ns, us, ms, s, tick");
  }
  return *ps;
}

void SourceUri::accept_only(std::initializer_list<std::string_view> keys) const {
  std::string known;
  for (const auto key : keys) known += (known.empty() ? "" : ", ") + std::string(key);
  for (const auto& [key, value] : values_) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    throw UserError("source '" + text_ + "': unknown key '" + key + "'; " + scheme_ + ": takes " +
                    (known.empty() ? "none" : known));
  }
}

SourceUri SourceUri::with_path(const std::string& path) const {
  SourceUri other = *this;
  other.path_ = path;
  other.compose();
  return other;
}

SourceUri SourceUri::with(const std::string& key, const std::string& value) const {
  SourceUri other = *this;
  other.values_[key] = value;
  other.compose();
  return other;
}

void SourceUri::compose() {
  text_ = scheme_ + ":" + path_;
  char separator = '?';
  for (const auto& [key, value] : values_) {
    text_ += separator + key;
    if (!value.empty() || !is_flag(key)) text_ += "=" + value;
    separator = '&';
  }
}

}  // namespace eventloom
