#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "io/compass/compass_text.hpp"
#include "io/files/file_head.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace {

std::string known_schemes() {
  return list_schemes([](const SourceScheme& known) { return std::string(known.name) + ":"; });
}

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

const SourceScheme* scheme_by_ending(std::string_view path) {
  const auto schemes = source_schemes();
  const auto found = std::ranges::find_if(schemes, [path](const auto& scheme) { return scheme.has_ending(path); });
  return found == schemes.end() ? nullptr : &*found;
}

/// The common scheme of all files that the path names; files of several kinds are refused.
const SourceScheme* scheme_of_files(const SourceUri& uri) {
  const auto files = found_files(uri.path());
  if (files.empty()) return scheme_by_ending(uri.path());
  const auto* const first = scheme_of_file(files.front());
  const auto* const ending = scheme_by_ending(files.front());
  for (const auto& file : files) {
    // Files with the same known ending are taken to be of one kind, so that not all need be opened.
    if (ending != nullptr && scheme_by_ending(file) == ending) continue;
    const auto* const other = &file == &files.front() ? first : scheme_of_file(file);
    if (other == first) continue;
    const auto name = [](const SourceScheme* scheme) {
      return scheme == nullptr ? "unknown" : std::string(scheme->name);
    };
    uri.refuse("its files are of several kinds, '" + files.front() + "' " + name(first) + " and '" + file + "' " +
               name(other) + "; name each kind on its own");
  }
  return first;
}

/// Refuses keys that the scheme lacks, keys without a required value, and values of keys that take none. Only payload=
/// may be empty: no column.
void check_keys(const SourceUri& uri, const SourceScheme& scheme) {
  if (!scheme.shifts) {
    for (const auto& key : kCommonKeys) {
      if (uri.has(key.name)) {
        uri.refuse("'" + std::string(key.name) + "=' must be given to the run that saves the sorted hits");
      }
    }
  }
  if (uri.has("follow") && !scheme.can_follow()) {
    uri.refuse(std::string(scheme.name) + ": cannot be followed; omit follow, which is for " +
               list_schemes([](const SourceScheme& known) {
                 return known.can_follow() ? std::string(known.name) + ":" : std::string();
               }));
  }
  if (uri.has(kAcknowledge.name) && !uri.has("follow")) {
    uri.refuse("acknowledge needs follow: it is for runs that follow a recorder");
  }
  const auto keys = scheme.all_keys();
  std::vector<std::string_view> names;
  for (const auto& key : keys) names.push_back(key.name);
  uri.accept_only(names);
  const auto alone = uri.flags();
  for (const auto& key : keys) {
    const std::string name(key.name);
    if (!uri.has(name)) continue;
    const bool is_alone = std::ranges::find(alone, name) != alone.end();
    if (is_alone && key.needs_value()) uri.refuse("'" + name + "' is not of the form key=value");
    if (!is_alone && key.takes_value() && name != "payload" && uri.get(name, "").empty())
      uri.refuse("'" + name + "=' is given an empty value; give it one, or omit it");
    if (!is_alone && !key.takes_value())
      uri.refuse("'" + name + "' takes no value: write " + name + " alone, or omit it");
  }
}

/// Selects the compass scheme for a table written by CoMPASS, whatever its name, unless the user selects columns. The
/// csv reader would not fit: times are in ps, and channels count from 0 on each board.
SourceUri as_compass(const SourceUri& uri) {
  const bool by_columns = uri.has("time") || uri.has("channel");
  const auto files = found_files(uri.path());
  if (files.empty() || !is_file(files.front()) || !begins_compass_text(file_head(files.front()))) return uri;
  if (by_columns) return uri.with_scheme("csv");
  for (const auto& key : kCsvKeys) {
    if (!uri.has(key.name) || std::ranges::find(kCompassKeys, key.name, &SourceKey::name) != kCompassKeys.end())
      continue;
    uri.refuse("'" + files.front() + "' is a table of CoMPASS, which '" + std::string(key.name) +
               "=' is not for: omit it, or say which columns count: time=TIMETAG&channel=CHANNEL&unit=ps");
  }
  return uri.with_scheme("compass");
}

/// Refuses what is not a file: no scheme would help. A colon in the name of a folder makes no scheme.
void refuse_missing(const SourceUri& uri) {
  const bool in_folder = uri.scheme().find('/') != std::string::npos;
  if (!uri.scheme().empty() && !in_folder) return;
  const auto path = in_folder ? uri.scheme() + ":" + uri.path() : uri.path();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    uri.refuse("it is a folder; name the files in it, as in '" + (std::filesystem::path(path) / "*").string() +
               "', or a folder of sorted hits as sorted:DIR");
  }
  if (!found_files(path).empty()) return;
  const bool has_keys = uri.text().find('?') != std::string::npos;
  uri.refuse(std::string(has_wildcard(path) ? "no file matches this pattern" : "there is no such file") +
             (has_keys ? ", and the keys belong to an unknown scheme: put it before the name, as in csv:FILE" : ""));
}

/// A file whose name contains what would be quoted characters is meant as it is.
SourceUri with_literal_path(const SourceUri& uri, const std::string& text) {
  const auto place = text.substr(0, text.find('?'));
  const auto literal = place.substr(uri.scheme().empty() ? 0 : uri.scheme().size() + 1);
  if (literal == uri.path() || found_files(literal).empty()) return uri;
  if (!found_files(uri.path()).empty()) {
    uri.refuse("there are '" + literal + "' and '" + uri.path() +
               "', which it may mean, too: write %25 for each % of the former, or rename one");
  }
  return uri.with_path(literal);
}

}  // namespace

const SourceScheme& scheme_of(const SourceUri& uri) {
  const auto* scheme = find_scheme(uri.scheme());
  if (scheme != nullptr) return *scheme;
  refuse_missing(uri);
  if (uri.scheme().empty()) {
    uri.refuse(
        "unknown scheme: neither the contents nor the ending of the file say what it is; put one before its "
        "name, as in csv:FILE; this build reads " +
        known_schemes());
  }
  std::vector<std::string_view> names;
  for (const auto& known : source_schemes()) names.push_back(known.name);
  uri.refuse("unknown scheme" + did_you_mean(uri.scheme(), names) + "; this build reads " + known_schemes());
}

const SourceScheme* scheme_of_file(const std::string& path) {
  const auto head = file_head(path);
  const auto schemes = source_schemes();
  const auto by_contents = std::ranges::find_if(
      schemes, [&head](const auto& scheme) { return scheme.recognise != nullptr && scheme.recognise(head); });
  return by_contents == schemes.end() ? scheme_by_ending(path) : &*by_contents;
}

SourceUri parse_source_uri(const std::string& text) {
  const bool is_name = !found_files(text).empty();
  auto uri = is_name ? SourceUri::of_path("", text) : with_literal_path(SourceUri::parse(text), text);
  if (uri.scheme().empty()) {
    if (const auto* scheme = scheme_of_files(uri)) uri = uri.with_scheme(scheme->name);
    if (uri.scheme() == "compass") uri = as_compass(uri);
  }
  if (uri.scheme() == "csv") uri = as_compass(uri);
  const auto& scheme = scheme_of(uri);
  if (uri.path().empty()) {
    throw UserError("source '" + text + "': nothing follows '" + std::string(scheme.name) + ":'");
  }
  check_keys(uri, scheme);
  return uri;
}

}  // namespace eventloom
