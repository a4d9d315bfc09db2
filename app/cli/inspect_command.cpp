#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/command/safe_text.hpp"
#include "app/document/alarm_json.hpp"
#include "app/view/inspect/detector_survey.hpp"
#include "app/view/inspect/document_text.hpp"
#include "app/view/inspect/find_event.hpp"
#include "app/view/inspect/live_look.hpp"
#include "app/view/show/event_members.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/units.hpp"
#include "io/files/found_files.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5_input/inspect_hdf5.hpp"
#include "io/registry/inspect_source.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/scheme_list.hpp"
#include "io/registry/source_turns.hpp"
#include "io/run_input/output_reader.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Whether files of this kind are recognised by their contents or their name.
bool is_known_by_file(const SourceScheme& scheme) {
  return scheme.recognise != nullptr || !scheme.endings.front().empty();
}

/// Lists the kinds of files that are shown.
std::string recognised_files() {
  return list_schemes([](const SourceScheme& scheme) {
    if (scheme.inspect == nullptr || !is_known_by_file(scheme)) return std::string_view();
    return scheme.endings.front().empty() ? scheme.name : scheme.endings.front();
  });
}

/// Lists the kinds of files that need a URI.
std::string shown_by_uri() {
  return list_schemes([](const SourceScheme& scheme) {
    const bool shown = scheme.inspect != nullptr && !is_known_by_file(scheme);
    return shown ? std::string(scheme.name) + ":" : "";
  });
}

/// Lists the sources whose data are shown as they arrive.
std::string live_sources() {
  return list_schemes(
      [](const SourceScheme& scheme) { return scheme.is_live() ? std::string(scheme.name) + ":" : ""; });
}

CommandLine inspect_command_line() {
  CommandLine line("inspect", "inspect FILE... [options], or inspect --schemes\nShows what is in recordings (" +
                                  recognised_files() + ", " + shown_by_uri() +
                                  " with its URI) and in output files (run.h5,\nparts, merged), and checks them; of "
                                  "live sources (" +
                                  live_sources() +
                                  ") what they send, as it comes.\n"
                                  "Exit code 3 when one is damaged, or live data are lost.");
  add_option_rows(
      line.options(),
      {{"file", po::value<std::vector<std::string>>()->value_name("FILE"), "file to show"},
       {"json", po::bool_switch(), "print one JSON object instead; of several files, {\"files\": [...]}"},
       {"events", text_value("N", "0"),
        "also show the first N events in full (of .epochs, .spikes, packed, compass, tpx3 and .csv: the first N hits); "
        "live: end after N"},
       {"find", text_value("number=N", "", "all"),
        "show the event of this number alone, of recordings and live sources"},
       {"rate", po::bool_switch(), "of live sources: rates every second instead of the events"},
       {"hex", po::bool_switch(), "words of data in hexadecimal digits, of live sources and with --find"},
       {"tdc", po::bool_switch(), "of .hld: with the times of its TDCs, counted by TDC and channel; as hld:FILE?tdc"},
       {"schemes", po::bool_switch(), "list all kinds of sources with their keys instead"},
       {"detector-map", text_value("MAP.csv", "", "none"),
        "instead, read recordings of any kind and write a first map of their channels for 'run --detector': a row for "
        "each channel, with its rate and a remark where that is far above those of its source (- is standard output)"},
       {"tick", text_value("TIME"), "unit of time for imported data (default: as suits the file)"},
       {"epoch", text_value("TIME"),
        "length of an epoch for imported data (default 10us, 500ns with --tick 1ps; 16 event numbers)"}});
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
  Json json = {{"name", part.name},     {"first_slice", part.first_slice}, {"last_slice", part.last_slice},
               {"slices", part.slices}, {"events", part.events},           {"hits", part.hits},
               {"bytes", part.bytes}};
  for (const auto& file : part.event_files) {
    json["event_files"].push_back({{"name", file.name}, {"events", file.events}, {"bytes", file.bytes}});
  }
  return json;
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

/// Selects what to show of a whole file.
struct FileLook {
  std::uint64_t events = 0;                   ///< number of events to show, from the first
  bool tdc = false;                           ///< show TDC times
  std::optional<std::uint64_t> tick_ps = {};  ///< ticks of the times; std::nullopt: chosen by file
};

SourceSpec with_tdc(const SourceSpec& spec) {
  const auto keys = scheme_of(spec.uri).all_keys();
  if (std::ranges::find(keys, "tdc", &SourceKey::name) == keys.end()) spec.uri.refuse("--tdc is for .hld files");
  auto other = spec;
  if (!spec.uri.has("tdc")) other.uri = spec.uri.with("tdc", "yes");
  return other;
}

bool is_file(const std::string& text) {
  std::error_code error;
  return std::filesystem::is_regular_file(text, error);
}

/// The path of an HDF5 file that is to be shown as a whole, named alone or by hdf5:PATH.
std::optional<std::string> whole_hdf5(const std::string& text) {
  constexpr std::string_view kScheme = "hdf5:";
  if (is_file(text)) return is_hdf5(text) ? std::optional(text) : std::nullopt;
  const auto path = text.starts_with(kScheme) ? text.substr(kScheme.size()) : std::string();
  return is_file(path) && is_hdf5(path) ? std::optional(path) : std::nullopt;
}

/// The files that patterns without a scheme match, each of which is shown as what it is.
std::vector<std::string> named_files(const std::vector<std::string>& texts) {
  constexpr std::string_view kScheme = "hdf5:";
  std::vector<std::string> all;
  for (const auto& text : texts) {
    std::error_code error;
    if (std::filesystem::is_directory(text, error)) throw UserError("'" + text + "' is a folder; give the files in it");
    const bool is_whole = text.starts_with(kScheme) && text.find('?') == std::string::npos;
    auto found = found_files(is_whole ? text.substr(kScheme.size()) : text);
    if (found.empty() && text.find_first_of(":?*[") == std::string::npos) {
      throw UserError("cannot open '" + text + "': no such file");
    }
    if (found.empty()) {
      all.push_back(text);
      continue;
    }
    for (auto& file : found) all.push_back((is_whole ? std::string(kScheme) : "") + file);
  }
  return all;
}

Json shown_hdf5(const std::string& path, const FileLook& look) {
  if (claims_to_be_output(path)) return inspect_output(path, look.events);
  return inspect_hdf5_file(path, look.events, look.tick_ps);
}

/// The contents or the name of a file identify it; a URI states how to read it.
Json inspect_all(const std::vector<std::string>& texts, const FileLook& look) {
  const auto files = named_files(texts);
  std::vector<std::string> uris;
  std::ranges::remove_copy_if(files, std::back_inserter(uris),
                              [](const auto& text) { return whole_hdf5(text).has_value(); });
  auto expanded = expand_uris(uris);
  try {
    place_turns(expanded.specs);
  } catch (const UserError& e) {  // a run refuses them
    log::warn("{}; shown as they begin in turn 0", e.what());
  }
  Json shown = Json::array();
  std::size_t uri = 0;
  std::size_t next = 0;
  for (const auto& text : files) {
    if (const auto path = whole_hdf5(text)) {
      shown.push_back(shown_hdf5(*path, look));
      continue;
    }
    for (; next < expanded.ends[uri]; ++next) {
      const auto& spec = expanded.specs[next];
      shown.push_back(inspect_source(look.tdc ? with_tdc(spec) : spec, look.events, look.tick_ps));
    }
    ++uri;
  }
  return shown;
}

/// Writes the first map. The sources are those of a run with the same arguments; "-" is standard output.
int write_first_map(const std::string& file, const std::vector<std::string>& uris, const TimeBaseOptions& base) {
  DetectorSurvey survey;
  const auto specs = expand_and_compare(uris);
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

/// Parses "number=N"; std::nullopt if --find is not given.
std::optional<Tick> number_to_find(const po::variables_map& values) {
  const auto& text = values["find"].as<std::string>();
  constexpr std::string_view kNumber = "number=";
  if (text.empty()) return std::nullopt;
  if (!text.starts_with(kNumber)) throw UserError("--find: expected number=N, as in number=1200, not '" + text + "'");
  return parsed("find", [&] { return Tick(parse_count(text.substr(kNumber.size()))); });
}

/// Refuses options that would have no effect.
void refuse_useless(const po::variables_map& values, bool live) {
  const auto given = [&](const char* option) { return values[option].as<bool>(); };
  const bool finds = !values["find"].as<std::string>().empty();
  if (given("json") && (live || finds))
    throw UserError("--json shows whole files; omit it, or --find and live sources");
  if (given("rate") && !live) throw UserError("--rate is for live sources: " + live_sources());
  if (given("tdc") && (live || finds)) throw UserError("--tdc is for whole .hld files");
  if (given("hex") && !live && !finds) throw UserError("--hex is for live sources and --find");
}

bool names_live_source(const std::string& text) {
  std::error_code error;
  if (text.find(':') == std::string::npos || std::filesystem::exists(text, error)) return false;
  return is_live(parse_source_uri(text));
}

/// Shows single events, of live sources or with --find, and returns the exit code. Returns std::nullopt if whole
/// files are requested.
std::optional<int> show_events(const std::vector<std::string>& uris, const po::variables_map& values) {
  const auto live = static_cast<std::size_t>(std::ranges::count_if(uris, names_live_source));
  refuse_useless(values, live != 0);
  const auto number = number_to_find(values);
  if (live == 0 && !number) return std::nullopt;
  if (live != 0 && live != uris.size())
    throw UserError("live sources and files are shown one after the other, not together");
  const auto specs = expand_sources(uris);
  const bool hex = values["hex"].as<bool>();
  if (live == 0) {
    return show_recorded_event(specs, *number, hex, time_base_options(values), std::cout);
  }
  const LiveLook look{.events = count_option(values, "events", 0, std::numeric_limits<std::uint64_t>::max()),
                      .rates = values["rate"].as<bool>(),
                      .hex = hex,
                      .only = number};
  return look_at_live(specs, look, time_base_options(values), std::cout);
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
  if (const auto code = show_events((*values)["file"].as<std::vector<std::string>>(), *values)) return *code;
  const FileLook look{.events = count_option(*values, "events", 0, std::numeric_limits<std::uint64_t>::max()),
                      .tdc = (*values)["tdc"].as<bool>(),
                      .tick_ps = time_base_options(*values).tick_ps};
  const auto files = inspect_all((*values)["file"].as<std::vector<std::string>>(), look);
  if ((*values)["json"].as<bool>()) {
    const Json json = files.size() == 1 ? files[0] : Json{{"files", files}};
    std::cout << json.dump(2) << '\n';
  } else {
    for (const auto& file : files) std::cout << text_of_document(file);
  }
  const bool damaged = std::ranges::any_of(files, [](const Json& file) { return file["damaged"].get<bool>(); });
  return damaged ? kExitLosses : kExitOk;
}

}  // namespace eventloom
