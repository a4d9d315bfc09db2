#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/inspect_epochs.hpp"
#include "app/inspect_hld.hpp"
#include "app/inspect_lmd.hpp"
#include "app/inspect_packed.hpp"
#include "app/inspect_spikes.hpp"
#include "core/runtime/error.hpp"
#include "formats/spikes.hpp"
#include "formats/stream_file.hpp"
#include "io/hdf5/output_reader.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::ordered_json;

/// Lists of problems are cut here for people; --json has all of them.
constexpr std::size_t kShownProblems = 20;

CommandLine make_command_line() {
  CommandLine line(
      "inspect",
      "inspect FILE... [options]\n"
      "Shows what is in recordings (.epochs, .lmd, .hld, .spikes, packed: with its URI) and in output files\n"
      "(run.h5, parts, merged), and checks them.\n"
      "Exit code 3 when one is damaged.");
  line.options().add_options()("file", po::value<std::vector<std::string>>()->value_name("FILE"), "file to show")(
      "json", po::bool_switch(), "print one JSON object instead; of several files, {\"files\": [...]}")(
      "events", po::value<std::uint64_t>()->default_value(0)->value_name("N"),
      "also show the first N events in full (of .epochs, .spikes and packed: the first N hits)");
  line.positional("file", -1);
  return line;
}

/// The scheme of the recorded format that a file begins with, if it is one.
std::optional<std::string> scheme_of_content(const std::string& path) {
  std::array<std::uint32_t, 2> words{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(words.data()), sizeof words);
  const std::uint64_t magic = std::uint64_t{words[1]} << 32 | words[0];
  if (magic == StreamFileHeader::kMagic) return "file";
  if (magic == SpikeFileHeader::kMagic) return "spikes";
  // The second word of an LMD file is the type of its header, that of an HLD file its decoding, in either byte order.
  constexpr std::array<std::uint32_t, 2> kLmd = {0x00010065, 0x000107d0};
  constexpr std::uint32_t kHld = 0x00030001;
  for (const auto word : {words[1], __builtin_bswap32(words[1])}) {
    if (std::ranges::find(kLmd, word) != kLmd.end()) return "lmd";
    if (word == kHld) return "hld";
  }
  return std::nullopt;
}

Json to_json(const Damage& damage) {
  Json json{{"offset", damage.file_offset}, {"first_epoch", damage.first_epoch}};
  const bool breaks_off = damage.first_epoch + damage.n_epochs == std::numeric_limits<Epoch>::max();
  if (breaks_off) {
    json["until"] = "the end";
  } else {
    json["epochs"] = damage.n_epochs;
  }
  json["hits"] = damage.n_hits;
  json["cause"] = kDropCauseNames[static_cast<std::size_t>(damage.cause)];
  return json;
}

Json payload_words_to_json(std::uint8_t n) {
  return n == PayloadTable::kLengthInFirstWord ? Json("length in first word") : Json(n);
}

/// By system, without those that have none; one entry when all are alike.
Json payload_to_json(const PayloadTable& table) {
  Json systems = Json::object();
  if (table.any() && table == PayloadTable::uniform(table.words[0])) {
    systems["all"] = payload_words_to_json(table.words[0]);
    return systems;
  }
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    if (table.words[i] > 0) systems[std::to_string(i)] = payload_words_to_json(table.words[i]);
  }
  return systems;
}

/// What a stream's times and payload are, as words.
Json flags_to_json(std::uint32_t flags) {
  Json list = Json::array();
  if ((flags & kNumbered) != 0) list.push_back("times are event numbers");
  if ((flags & kTriggerInPayload) != 0) list.push_back("trigger type in the second payload word");
  if ((flags & kSorted) != 0) list.push_back("time-sorted hits of several sources");
  return list;
}

Json to_json(const LedgerSummary& ledger) {
  Json json = {{"slices", ledger.rows},
               {"hits_in", ledger.sum.hits_in},
               {"hits_in_events", ledger.sum.hits_in_events},
               {"hits_outside", ledger.sum.hits_outside},
               {"hits_rejected", ledger.sum.hits_rejected}};
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    json["hits_dropped_" + std::string(kDropCauseNames[i])] = ledger.sum.hits_dropped[i];
  }
  json["slices_with_missing_sources"] = ledger.rows_with_missing_sources;
  json["balances"] = ledger.rows_unbalanced == 0;
  return json;
}

Json to_json(const OutputEvent& event) {
  Json hits = Json::array();
  for (const auto& hit : event.hits) {
    Json item = {{"time", hit.time}, {"channel", hit.channel}, {"source", hit.source}};
    if (!hit.payload.empty()) item["payload"] = hit.payload;
    hits.push_back(std::move(item));
  }
  return {{"time", event.time},   {"duration", event.duration},
          {"slice", event.slice}, {"flags", event.flags},
          {"hits", hits},         {"sources_missing", event.sources_missing}};
}

Json to_json(const PartInfo& part) {
  return {{"name", part.name},     {"first_slice", part.first_slice}, {"last_slice", part.last_slice},
          {"slices", part.slices}, {"events", part.events},           {"hits", part.hits},
          {"bytes", part.bytes}};
}

Json to_json(const SourceRecord& source) {
  return {{"name", source.name},
          {"uri", source.uri},
          {"path", source.input.path},
          {"bytes", source.input.bytes},
          {"crc32c", fmt::format("{:08x}", source.input.crc32c)},
          {"id", source.id}};
}

Json to_json(const RecordedHit& hit) {
  Json json{{"time", hit.time}, {"channel", hit.channel}};
  if (!hit.payload.empty()) json["payload"] = hit.payload;
  return json;
}

template <class Items>
Json list_to_json(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

Json inspect_epochs(const std::string& path, std::uint64_t n_hits) {
  const auto report = read_epochs_report(path, n_hits);
  Json damage = Json::array();
  for (const auto& stretch : report.damage) damage.push_back(to_json(stretch));
  Json json{{"file", path},
            {"kind", "epochs"},
            {"damaged", report.damaged()},
            {"file_bytes", report.file_bytes},
            {"source", report.header.source},
            {"tick_ps", report.header.base.tick_ps},
            {"epoch_ticks", report.header.base.epoch_ticks},
            {"payload_words_by_system", payload_to_json(report.header.payload)},
            {"text", report.header.text},
            {"flags", flags_to_json(report.header.flags)},
            {"event_tags", report.tags},
            {"histograms", report.histograms},
            {"index", report.index},
            {"buffers", report.buffers},
            {"words", report.words},
            {"hits", report.hits},
            {"payload_words", report.payload_words},
            {"first_tick", report.first_tick},
            {"last_tick", report.last_tick},
            {"first_epoch", report.epochs.begin},
            {"end_epoch", report.epochs.end},
            {"gaps", report.gaps},
            {"epochs_in_gaps", report.epochs_in_gaps},
            {"anomalies", report.anomalies},
            {"damage", damage},
            {"problems", report.problems}};
  if (n_hits > 0) json["first_events"] = list_to_json(report.first_hits);
  return json;
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
               {"ledger", to_json(summary.ledger)}};
  if (!summary.sources.empty()) json["sources"] = list_to_json(summary.sources);
  if (!summary.parts.empty()) json["parts"] = list_to_json(summary.parts);
  json["problems"] = summary.problems;
  if (n_events > 0) json["first_events"] = list_to_json(read_events(path, n_events));
  return json;
}

Json inspect_source(const SourceUri& uri, std::uint64_t n_events) {
  if (uri.scheme() == "lmd") return inspect_lmd(uri, n_events);
  if (uri.scheme() == "hld") return inspect_hld(uri, n_events);
  if (uri.scheme() == "spikes") return inspect_spikes(uri, n_events);
  if (uri.scheme() == "packed") return inspect_packed(uri, n_events);
  if (uri.scheme() == "file") return inspect_epochs(uri.path(), n_events);
  throw UserError("'" + uri.text() + "': inspect reads files, and lmd:, hld:, spikes: and packed: sources");
}

/// A file says by its first bytes what it is; a URI says how to read it.
Json inspect(const std::string& text, std::uint64_t n_events) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(text, error)) {
    if (text.find(':') != std::string::npos) return inspect_source(SourceUri::parse(text), n_events);
    if (std::filesystem::is_directory(text, error)) throw UserError("'" + text + "' is a folder; give the files in it");
    throw UserError("cannot open '" + text + "': no such file");
  }
  if (is_hdf5(text)) return inspect_output(text, n_events);
  const auto scheme = scheme_of_content(text);
  if (!scheme) {
    throw UserError("'" + text + "' is none of .epochs, .lmd, .hld, .spikes and HDF5; packed: needs its whole URI");
  }
  return inspect_source(SourceUri::of_path(*scheme, text), n_events);
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// "name  value", the further lines of a text below each other.
void print_pair(std::ostream& out, int indent, const std::string& name, const std::string& value) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = value;
  while (text.ends_with('\n')) text.pop_back();
  std::string lines;
  for (const char c : text) lines += c == '\n' ? "\n" + margin + std::string(30, ' ') : std::string(1, c);
  out << margin << fmt::format("{:<30}", name + ' ') << lines << '\n';
}

/// Whether a value of an item is a list of objects, each of which gets a line.
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

/// The JSON object laid out for people.
void print(std::ostream& out, const Json& json) {
  out << json["file"].get<std::string>() << '\n';
  for (const auto& [name, value] : json.items()) {
    if (name == "file") continue;
    if (value.is_array()) {
      print_list(out, name, value);
    } else if (value.is_object()) {
      out << "  " << name << (value.empty() ? ": none" : "") << '\n';
      for (const auto& [key, item] : value.items()) print_pair(out, 4, key, text_of(item));
    } else {
      print_pair(out, 2, name, text_of(value));
    }
  }
}

}  // namespace

int inspect_command(int argc, const char* const* argv) {
  auto line = make_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("file") == 0) throw UserError("no file given; see 'eventloom inspect --help'");

  Json files = Json::array();
  for (const auto& path : (*values)["file"].as<std::vector<std::string>>()) {
    files.push_back(inspect(path, (*values)["events"].as<std::uint64_t>()));
  }
  if ((*values)["json"].as<bool>()) {
    const Json json = files.size() == 1 ? files[0] : Json{{"files", files}};
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    for (const auto& file : files) print(std::cout, file);
  }
  const bool damaged = std::ranges::any_of(files, [](const Json& file) { return file["damaged"].get<bool>(); });
  return damaged ? kExitLosses : kExitOk;
}

}  // namespace eventloom
