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

/// `run --reply`: where each event is sent.
struct ReplyOption {
  std::vector<std::string> addresses;  ///< udp://HOST:PORT; each receives every event
  std::size_t datagram_bytes = 0;      ///< size of the largest datagram
};

/// The output of a run, and whether it continues or replaces earlier output.
struct OutputSettings {
  std::string file;                    ///< run file; with named definitions the index of their run files
  std::vector<DefinitionOutput> runs;  ///< one per definition, never empty
  PartWriterSettings parts;            ///< compression and segments; the rest is filled in per writer
  bool no_payload = false;             ///< part files hold hits without payload
  std::string scratch;                 ///< node-local folder for unfinished parts; empty: none
  std::string next;                    ///< folder for parts when the disk of `file` is full, absolute; empty: none
  std::string save_sorted;             ///< folder for the time-sorted hits; empty: none
  std::string report_json;             ///< file for the summary as JSON; empty: none
  std::optional<TapOption> tap;        ///< not set: no port is opened
  std::optional<ReplyOption> reply;    ///< not set: nothing is sent
  std::size_t explain = 0;             ///< number of events for which the summary explains the terms of the filters
  bool merge = false;                  ///< at its end, one merged file replaces each run file and its parts
  bool resume = false;
  bool force = false;  ///< replace a finished run of this output; with `resume` only a finished one
  std::optional<std::uint64_t> run_number;  ///< see RunRecord
  std::string run_comment;                  ///< rank 0 only
  std::string setup;                        ///< the full setup as an INI file, for the record

  /// Whether the definitions have names and separate run files.
  [[nodiscard]] bool has_index() const { return !runs.front().define.name.empty(); }
  /// Whether list-mode files are written.
  [[nodiscard]] bool has_companions() const { return !runs.front().also.empty(); }
};

/// Advises the user how to continue a run that has stopped before its end, in words that end a sentence. `is_series`:
/// the run is one of --runs. `drops_sorted`: it can only be resumed without --save-sorted.
std::string how_to_continue(bool is_series, bool drops_sorted = false);

/// `given`: the values of --define, at least one. A definition without a name writes the run file `output`. Named ones
/// write one run file each, `run.NAME.h5` for `run.h5`, and `output` is the index of these. Throws UserError.
std::vector<DefinitionOutput> parse_define_options(const std::vector<std::string>& given, const std::string& output);

/// Returns `name`. The lists of a run's files are JSON, which requires UTF-8: throws UserError that names the option.
const std::string& utf8_name(const std::string& name, const char* option);

/// Adds the value of an --also to each definition, which has its own list-mode files. Throws UserError.
void add_also_option(const std::string& text, OutputSettings& output);

/// Parses "udp://HOST:PORT,udp://HOST:PORT". Throws UserError that names the address unless each is that of one board.
ReplyOption parse_reply_option(const std::string& text, std::size_t datagram_bytes);

/// Parses "6002", "0.0.0.0:6002/transport" or "mbs://[::1]:6002/stream". Throws UserError.
TapOption parse_tap_option(const std::string& text);

}  // namespace eventloom
