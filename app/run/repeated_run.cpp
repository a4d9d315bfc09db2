#include "app/run/repeated_run.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <system_error>

#include "app/command/command_words.hpp"
#include "app/run/run_resume.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/setting_line.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_input/run_file.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// For an index, reads the record of its first definition: all definitions have the same setup.
RunRecord record_of(const fs::path& file) {
  if (!is_run_index(file)) return read_run_record(file);
  const auto index = read_run_index(file);
  if (index.runs.empty()) throw UserError("'" + file.string() + "' lists no runs");
  return read_run_record(file.parent_path() / index.runs.front().file);
}

/// The options whose values name files.
constexpr std::array<std::string_view, 3> kWithPaths = {"source", "detector", "schedule"};

/// The options whose values are a program and its arguments.
constexpr std::array<std::string_view, 3> kCommands = {"filter-command", "alarm-command", "run-hook"};

/// Whether a value of such an option depends on `folder`, in which it was given.
bool names_file_in(const fs::path& folder, const std::string& command, const std::string& option) {
  if (command.empty()) return false;
  std::error_code unreadable;
  return std::ranges::any_of(split_command(command, "--" + option), [&](const std::string& word) {
    return !word.empty() && word.front() != '/' && fs::exists(folder / word, unreadable);
  });
}

/// Whether a value of an option that names a file depends on the current folder.
bool is_relative(std::string_view value) {
  const auto colon = value.find(':');
  const auto path = colon == std::string_view::npos ? value : value.substr(colon + 1);
  if (path.empty() || path.front() == '/') return false;
  const auto scheme = colon == std::string_view::npos ? "" : value.substr(0, colon);
  return scheme != "gen" && scheme != "udp" && scheme != "mbs" && scheme != "trb";
}

/// A run of a series may be repeated as a single run, and a single run within a series.
bool is_of_series(const std::string& name, const std::set<std::string>& given) {
  if (given.contains("runs")) return name == "output";
  return given.contains("output") && (name == "runs" || name == "idle" || name.starts_with("run-hook"));
}

void require_same_folder(const fs::path& file, const RunRecord& record, const NamedValue& setting) {
  std::error_code error;
  const auto here = fs::current_path(error).string();
  if (record.folders.empty() || record.folders.front() == here) return;
  throw UserError(
      fmt::format("--config: '{}' was built in '{}', and '{} = {}' is relative to it: call the run there, or give --{}",
                  file.string(), record.folders.front(), setting.name, setting.value, setting.name));
}

}  // namespace

bool is_repeatable(const fs::path& file) {
  if (!is_hdf5(file)) return false;
  if (is_run_file(file) || is_merged_file(file) || is_run_index(file)) return true;
  throw UserError("--config: '" + file.string() + "' is an HDF5 file, but not the output of a run");
}

std::string setup_to_repeat(const fs::path& file, const std::set<std::string>& given) {
  const auto record = record_of(file);
  std::istringstream setup(record.setup);
  std::string text;
  for (std::string line; std::getline(setup, line);) {
    const auto setting = read_setting(line);
    if (!setting) continue;
    const auto& [name, value] = *setting;
    if (given.contains(name) || is_of_series(name, given)) continue;
    const bool has_path = std::ranges::find(kWithPaths, name) != kWithPaths.end();
    const bool plain_schedule = name == "schedule" && !value.starts_with("table:");
    if (has_path && !plain_schedule && is_relative(value)) require_same_folder(file, record, *setting);
    const bool is_command = std::ranges::find(kCommands, name) != kCommands.end() && !record.folders.empty();
    if (is_command && names_file_in(record.folders.front(), value, name)) require_same_folder(file, record, *setting);
    text += setting_line(name, value);
  }
  return text;
}

std::vector<std::string> changes_since(const fs::path& file, const RunRecord& now) {
  return differences(record_of(file), now);
}

}  // namespace eventloom
