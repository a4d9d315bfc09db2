#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/alarm_json.hpp"
#include "app/command_line.hpp"
#include "app/detector_survey.hpp"
#include "app/options.hpp"
#include "app/show/event_members.hpp"
#include "app/show/safe_text.hpp"
#include "core/runtime/error.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/output_reader.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/scheme_list.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::ordered_json;

/// Lists of problems are truncated in the text output; --json has all of them.
constexpr std::size_t kShownProblems = 20;

/// Kinds of files that are recognised by their contents.
std::string recognised_files() {
  return list_schemes([](const SourceScheme& scheme) {
    if (scheme.recognise == nullptr) return std::string_view();
    return scheme.endings.front().empty() ? scheme.name : scheme.endings.front();
  });
}

/// Kinds of files that need a URI.
std::string shown_by_uri() {
  return list_schemes([](const SourceScheme& scheme) {
    const bool shown = scheme.inspect != nullptr && scheme.recognise == nullptr;
    return shown ? std::string(scheme.name) + ":" : "";
  });
}

CommandLine inspect_command_line() {
  CommandLine line("inspect", "inspect FILE... [options], or inspect --schemes\nShows the contents of recordings (" +
                                  recognised_files() + ", " + shown_by_uri() +
                                  " with its URI) and in output files\n"
                                  "(run.h5, parts, merged), and checks them.\n"
                                  "Exit code 3 when one is damaged.");
  line.options().add_options()("file", po::value<std::vector<std::string>>()->value_name("FILE"), "file to show")(
      "json", po::bool_switch(), "print one JSON object instead; of several files, {\"files\": [...]}")(
      "events", text_value("N", "0"),
      "also show the first N events in full (of .epochs, .spikes, packed, compass and tpx3: the first N hits)")(
      "schemes", po::bool_switch(), "list all kinds of sources with their keys instead")(
      "detector-map", text_value("MAP.csv", "", "none"),
      "instead, read recordings of any kind and write a first map of their channels for 'run --detector': a row for "
      "each "
      "channel, with its rate and a remark where that is far above those of its source (- is standard output)")(
      "tick", po::value<std::string>()->value_name("TIME"), "unit of time for imported data (default 1ns)")(
      "epoch", po::value<std::string>()->value_name("TIME"),
      "length of an epoch for imported data (default 10us, 500ns with --tick 1ps; 16 event numbers)");
  line.positional("file", -1);
  return line;
}

Json shown(const RunTotals& ledger) {
  Json json;
  ledger.counters.put_into(
      json, {Metric::slices, Metric::hits_in, Metric::hits_in_events, Metric::hits_outside, Metric::hits_rejected});
  ledger.counters.put_into(json, Account::dropped);
  json["slices_with_missing_sources"] = ledger[Metric::incomplete_slices];
  json["balances"] = ledger[Metric::unbalanced_slices] == 0;
  return json;
}

Json shown(const PartInfo& part) {
  return {{"name", part.name},     {"first_slice", part.first_slice}, {"last_slice", part.last_slice},
          {"slices", part.slices}, {"events", part.events},           {"hits", part.hits},
          {"bytes", part.bytes}};
}

Json shown(const SourceRecord& source) {
  return {{"name", source.name},
          {"uri", source.uri},
          {"path", source.input.path},
          {"bytes", source.input.bytes},
          {"crc32c", fmt::format("{:08x}", source.input.crc32c)},
          {"id", source.id}};
}

Json shown(const AlarmRecord& alarm) { return to_json(alarm); }

template <class Items>
Json list_shown(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(shown(item));
  return list;
}

Json inspect_output(const std::string& path, std::uint64_t n_events) {
  const auto summary = read_output(path);
  Json attributes = Json::object();
  for (const auto& [name, value] : summary.attributes) {
    std::visit([&attributes, &key = name](const auto& v) { attributes[key] = v; }, value);
  }
  Json json = {{"file", path},
               {"kind", summary.format},
               {"damaged", !summary.problems.empty()},
               {"file_bytes", std::filesystem::file_size(path)},
               {"events", summary.events},
               {"hits", summary.hits},
               {"payload_words", summary.payload_words},
               {"attributes", attributes},
               {"ledger", shown(summary.ledger)}};
  if (!summary.sources.empty()) json["sources"] = list_shown(summary.sources);
  if (!summary.parts.empty()) json["parts"] = list_shown(summary.parts);
  if (!summary.alarms.empty()) json["alarms"] = list_shown(summary.alarms);
  json["problems"] = summary.problems;
  if (n_events == 0) return json;
  auto& events = json["first_events"] = Json::array();
  for (const auto& event : read_events(path, n_events)) events.push_back(event_members(event));
  return json;
}

/// By its contents; nothing of other kinds.
const SourceScheme* recognised_scheme(const std::string& file) {
  const auto schemes = source_schemes();
  const auto found = std::ranges::find_if(
      schemes, [&](const SourceScheme& scheme) { return scheme.recognise != nullptr && scheme.recognise(file); });
  return found == schemes.end() ? nullptr : &*found;
}

Json inspect_source(const SourceUri& uri, std::uint64_t n_events) {
  const auto inspect = scheme_of(uri).inspect;
  if (inspect != nullptr) return inspect(uri, n_events);
  throw UserError("'" + uri.text() + "': inspect shows files, and sources of " + list_schemes([](const auto& scheme) {
                    return scheme.inspect != nullptr ? std::string(scheme.name) + ":" : "";
                  }));
}

/// A file is recognised by its contents; a URI says how to read it.
Json inspect(const std::string& text, std::uint64_t n_events) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(text, error)) {
    if (text.find(':') != std::string::npos) return inspect_source(parse_source_uri(text), n_events);
    if (std::filesystem::is_directory(text, error)) throw UserError("'" + text + "' is a folder; give the files in it");
    throw UserError("cannot open '" + text + "': no such file");
  }
  if (is_hdf5(text)) return inspect_output(text, n_events);
  if (const auto* scheme = recognised_scheme(text)) {
    return inspect_source(SourceUri::of_path(std::string(scheme->name), text), n_events);
  }
  throw UserError("'" + text + "' is not one of " + recognised_files() + " and HDF5; " + shown_by_uri() +
                  " needs its whole URI");
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// A list of texts has a line for each.
std::string lines_of(const Json& value) {
  const bool texts = value.is_array() && !value.empty() && value.front().is_string();
  if (!texts) return text_of(value);
  std::string lines;
  for (const auto& text : value) lines += text.get<std::string>() + '\n';
  return lines;
}

/// "name  value", further lines of a text aligned below.
void print_pair(std::ostream& out, int indent, const std::string& name, const std::string& value) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = value;
  while (text.ends_with('\n')) text.pop_back();
  std::string lines;
  for (const char c : text) lines += c == '\n' ? "\n" + margin + std::string(30, ' ') : std::string(1, c);
  out << margin << fmt::format("{:<30}", name + ' ') << lines << '\n';
}

/// Whether a value of an item is a list of objects, one line each.
bool has_parts(const Json& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

/// An item of a list on a line of its own.
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

/// The JSON object as text.
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

/// With the scheme of a file that is recognised by its contents.
std::string with_scheme(const std::string& text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(text, error)) return text;
  const auto* scheme = recognised_scheme(text);
  return scheme == nullptr ? text : std::string(scheme->name) + ":" + text;
}

/// The sources are those of a run with the same arguments, and files that are recognised; "-" is standard output.
int write_first_map(const std::string& file, std::vector<std::string> uris, const TimeBaseOptions& base) {
  DetectorSurvey survey;
  for (auto& uri : uris) uri = with_scheme(uri);
  const auto specs = expand_sources(uris);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    if (is_live(specs[s].uri)) {
      throw UserError("'" + specs[s].uri.text() +
                      "' is live: record it with 'eventloom run --record DIR', and give the recording");
    }
    const auto source = open_source(specs[s], {static_cast<std::uint16_t>(s)}, base);
    add_to_survey(survey, *source, sorted_manifest(specs[s].uri));
  }
  if (file == "-") {
    std::cout << first_map(survey);
    return survey.damaged ? kExitLosses : kExitOk;
  }
  write_text_file(file, first_map(survey), is_nobodys);
  std::size_t channels = 0;
  for (const auto& source : survey.sources) channels += source.hits.size();
  std::cout << file << ": " << channels << " channels of " << survey.sources.size() << " sources\n";
  return survey.damaged ? kExitLosses : kExitOk;
}

}  // namespace

int inspect_command(int argc, const char* const* argv) {
  auto line = inspect_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if ((*values)["schemes"].as<bool>()) {
    std::cout << scheme_list();
    return kExitOk;
  }
  if (values->count("file") == 0) throw UserError("no file given; see 'eventloom inspect --help'");

  const auto& map = (*values)["detector-map"].as<std::string>();
  if (!map.empty()) {
    return write_first_map(map, (*values)["file"].as<std::vector<std::string>>(), time_base_options(*values));
  }
  const auto events = count_option(*values, "events", 0, std::numeric_limits<std::uint64_t>::max());
  Json files = Json::array();
  for (const auto& path : (*values)["file"].as<std::vector<std::string>>()) {
    files.push_back(inspect(path, events));
  }
  if ((*values)["json"].as<bool>()) {
    const Json json = files.size() == 1 ? files[0] : Json{{"files", files}};
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    std::ostringstream text;
    for (const auto& file : files) print(text, file);
    std::cout << lines_for_terminal(text.str());
  }
  const bool damaged = std::ranges::any_of(files, [](const Json& file) { return file["damaged"].get<bool>(); });
  return damaged ? kExitLosses : kExitOk;
}

}  // namespace eventloom
