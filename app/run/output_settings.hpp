#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/command/listen_place.hpp"
#include "io/event_files/event_target.hpp"
#include "io/run_output/part_writer.hpp"

namespace eventloom {

/// One --define of a run.
struct DefineOption {
  std::string name;  ///< empty for a single definition without a name
  std::string text;  ///< the definition itself

  /// Returns the option as on the command line.
  [[nodiscard]] std::string given() const { return name.empty() ? text : name + "=" + text; }
};

/// One --also of a run.
struct AlsoOption {
  std::string given;
  EventTarget target;
};

/// A definition and the files of its events.
struct DefinitionOutput {
  DefineOption define;
  std::string file;                   ///< run file
  std::vector<AlsoOption> also = {};  ///< list-mode files
};

/// `run --tap`: the port at which the events of the first writer are served. Each further writer takes the next port.
struct TapOption {
  ListenPlace place;
  bool by_request = true;  ///< MBS stream server; otherwise MBS transport
};

/// The output of a run, and whether it continues or replaces earlier output.
struct OutputSettings {
  std::string file;                    ///< run file; with named definitions the index of their run files
  std::vector<DefinitionOutput> runs;  ///< one per definition, never empty
  PartWriterSettings parts;            ///< compression and segments; the rest is filled in per writer
  bool no_payload = false;             ///< part files hold hits without payload
  std::string scratch;                 ///< node-local folder for unfinished parts; empty: none
  std::string save_sorted;             ///< folder for the time-sorted hits; empty: none
  std::string report_json;             ///< file for the summary as JSON; empty: none
  std::optional<TapOption> tap;        ///< not set: no port is opened
  std::size_t explain = 0;             ///< number of events for which the summary explains the terms of the filters
  bool resume = false;
  bool force = false;  ///< replace a finished run of this output; with `resume` only a finished one
  std::string setup;   ///< the full setup as an INI file, for the record

  /// Whether the definitions have names, and run files of their own.
  [[nodiscard]] bool has_index() const { return !runs.front().define.name.empty(); }
  /// Whether list-mode files are written.
  [[nodiscard]] bool has_companions() const { return !runs.front().also.empty(); }
};

/// `given`: the values of --define, at least one. A definition without a name writes the run file `output`. Named ones
/// write one run file each, `run.NAME.h5` for `run.h5`, and `output` is the index of these. Throws UserError.
std::vector<DefinitionOutput> parse_define_options(const std::vector<std::string>& given, const std::string& output);

/// Parses "6002", "0.0.0.0:6002/transport" or "mbs://[::1]:6002/stream". Throws UserError.
TapOption parse_tap_option(const std::string& text);

}  // namespace eventloom
