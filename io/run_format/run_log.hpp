#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eventloom {

/// One of the runs of a folder. Times are UTC, as in 2026-11-22T18:31:48Z.
struct LoggedRun {
  /// Totals of all definitions' common input, and of the first definition's events.
  struct Totals {
    std::uint64_t events = 0;
    std::uint64_t hits_in = 0;
    std::uint64_t hits_in_events = 0;
    std::uint64_t hits_lost = 0;
  };

  std::uint64_t number = 0;
  std::string file = {};           ///< run file, in the folder
  std::string began = {};          ///< when it was begun
  std::string by = {};             ///< client that began it
  std::string comment = {};        ///< may be empty
  std::uint64_t hits_between = 0;  ///< hits that arrived after the run before it, and are in none
  bool unknown_between = false;    ///< the program before was killed: an unknown number of further hits is in no run

  std::string ended = {};             ///< empty: it has not ended, or its end is not known
  std::string why = {};               ///< cause of its end
  std::string ended_by = {};          ///< client that ended it; may be empty
  std::optional<int> exit_code = {};  ///< not set: its end is not known, or it ended with an error
  Totals totals = {};
};

/// The log of a folder's runs: `runs.jsonl`, a JSON object in each line, of which the first names the format, and then
/// one line when a run begins and one when it ends. A line that was cut short by a crash is left out.
std::filesystem::path run_log_of(const std::filesystem::path& folder);

/// Runs in the order in which they were begun; empty if there is no log. Throws UserError if the file is not such a
/// log, or cannot be read.
std::vector<LoggedRun> read_run_log(const std::filesystem::path& folder);

/// Likewise, for the program that will write it: it must not be a link, a FIFO or anything else but a file.
std::vector<LoggedRun> open_run_log(const std::filesystem::path& folder);

/// Whether the last program that wrote this log was killed: it has begun a run, and has not logged its own end.
bool was_killed(const std::filesystem::path& folder);

/// Adds the end of the program, in whose log no run is open; otherwise like log_end().
void log_program_end(const std::filesystem::path& folder, const std::string& time);
/// Adds the beginning or the end of a run, and waits for the disk. Creates the log. Only one process may write it.
/// Throws UserError.
void log_begin(const std::filesystem::path& folder, const LoggedRun& run);
void log_end(const std::filesystem::path& folder, const LoggedRun& run);

/// Numbers of runs are at most this.
inline constexpr std::uint64_t kHighestRun = 999'999'999;

/// "run_0042"
std::string run_stem(std::uint64_t number);
/// The highest number in the log and in the names of the folder's files, such as run_0042.h5; 0 if there is none.
std::uint64_t highest_run(const std::filesystem::path& folder, const std::vector<LoggedRun>& log);

}  // namespace eventloom
