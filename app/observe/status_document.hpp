#pragma once

#include <string>
#include <vector>

#include "app/document/status_parts.hpp"
#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

/// The documents that the monitor serves; their schema is in app/observe/README.md. Any thread.
namespace eventloom {

/// A command of somebody who steers the run.
struct CommandRecord {
  std::string time;  ///< UTC
  std::string from;  ///< address
  std::string command;
  std::string result;
};
StatusJson to_json(const CommandRecord& command);

struct LogLine {
  std::string time;  ///< UTC
  std::string severity;
  std::string text;
};

/// /status.
StatusJson status_document(const RunDescription& run, const RunSnapshot& snapshot,
                           const std::vector<CommandRecord>& commands, const std::vector<LogLine>& log);
/// /events/latest: its part "events".
StatusJson latest_events(const RunDescription& run, const RunSnapshot& snapshot);
/// As text: bytes that are not UTF-8 are replaced.
std::string to_text(const StatusJson& json);

}  // namespace eventloom
