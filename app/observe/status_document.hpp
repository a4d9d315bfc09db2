#pragma once

#include <string>
#include <vector>

#include "app/document/status_parts.hpp"
#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

/// The documents that the monitor serves; app/observe/README.md describes their schema. Callable from any thread.
namespace eventloom {

/// A command from a user who steers the run.
struct CommandRecord {
  std::string time;  ///< UTC
  std::string from;  ///< address
  std::string command;
  std::string result;
};
Json to_json(const CommandRecord& command);

struct LogLine {
  std::string time;  ///< UTC
  std::string severity;
  std::string text;
};

/// Returns the document /status.
Json status_document(const RunDescription& run, const RunSnapshot& snapshot, const std::vector<CommandRecord>& commands,
                     const std::vector<LogLine>& log);
/// Returns the document /events/latest, the part "events" of the status.
Json latest_events(const RunDescription& run, const RunSnapshot& snapshot);
/// Serialises the document; bytes that are not valid UTF-8 are replaced.
std::string to_text(const Json& json);

}  // namespace eventloom
