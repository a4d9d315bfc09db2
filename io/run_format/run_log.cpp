#include "io/run_format/run_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

constexpr const char* kLogFormat = "eventloom-runs";
constexpr std::string_view kRunPrefix = "run_";

/// Adds what a line states to the run that it is about.
void take_line(const Json& line, std::vector<LoggedRun>& runs) {
  const auto text = [&](const char* name) { return line.value(name, std::string()); };
  if (!line.contains("ended")) {
    LoggedRun run{line.at("run"), text("file"), text("began"), text("by"), text("comment")};
    run.hits_between = line.value("hits_between", std::uint64_t{0});
    run.unknown_between = line.value("unknown_between", false);
    runs.push_back(std::move(run));
    return;
  }
  const auto run = std::ranges::find(runs, line.at("run").get<std::uint64_t>(), &LoggedRun::number);
  if (run == runs.end()) return;
  run->ended = text("ended");
  run->why = text("why");
  run->ended_by = text("by");
  if (line.contains("exit_code")) run->exit_code = line["exit_code"].get<int>();
  run->totals = {line.value("events", std::uint64_t{0}), line.value("hits_in", std::uint64_t{0}),
                 line.value("hits_in_events", std::uint64_t{0}), line.value("hits_lost", std::uint64_t{0})};
}

/// Calls take(line) for each complete line but the first.
template <class Take>
void read_lines(const std::filesystem::path& log, Take take) {
  std::ifstream in(log);
  for (std::string text; std::getline(in, text);) {
    try {
      const auto line = Json::parse(text);
      if (!line.contains("format")) take(line);
    } catch (const JsonError&) {
      continue;  // cut by a crash
    }
  }
}

/// A crash may have left it empty.
bool holds_nothing(const std::filesystem::path& file) { return head_of(file, 1).empty(); }

bool is_run_log(const std::filesystem::path& file) { return holds_nothing(file) || is_json_of(file, kLogFormat); }

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw UserError(fmt::format("'{}': {}", file.string(), std::strerror(errno)));
}

/// Whether the last line is complete; a crash may have cut it.
bool ends_with_a_line(int file) {
  const auto size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  return size <= 0 || (::pread(file, &last, 1, size - 1) == 1 && last == '\n');
}

void add_line(const std::filesystem::path& folder, const Json& line) {
  const auto path = run_log_of(folder);
  refuse_foreign(path, is_run_log);
  const bool is_new = holds_nothing(path);
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.is_open()) fail(path);
  std::string text = is_new ? Json{{"format", kLogFormat}, {"version", 1}}.dump() + "\n" : "";
  if (!ends_with_a_line(file.number())) text += '\n';
  text += line.dump() + "\n";
  errno = ENOSPC;  // a write that is cut short does not set it
  if (::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail(path);
  if (::fsync(file.number()) != 0) fail(path);
  if (is_new) sync_folder(folder);
}

}  // namespace

std::filesystem::path run_log_of(const std::filesystem::path& folder) { return folder / "runs.jsonl"; }

std::vector<LoggedRun> read_run_log(const std::filesystem::path& folder) {
  const auto path = run_log_of(folder);
  if (holds_nothing(path)) return {};
  if (!is_run_log(path)) throw UserError("'" + path.string() + "' is not a log of runs");
  std::vector<LoggedRun> runs;
  read_lines(path, [&](const Json& line) {
    if (line.contains("run")) take_line(line, runs);
  });
  return runs;
}

bool was_killed(const std::filesystem::path& folder) {
  bool killed = false;
  read_lines(run_log_of(folder), [&](const Json& line) { killed = !line.contains("program_ended"); });
  return killed;
}

void log_program_end(const std::filesystem::path& folder, const std::string& time) {
  add_line(folder, {{"program_ended", time}});
}

std::vector<LoggedRun> open_run_log(const std::filesystem::path& folder) {
  auto runs = read_run_log(folder);
  refuse_foreign(run_log_of(folder), is_run_log);
  return runs;
}

void log_begin(const std::filesystem::path& folder, const LoggedRun& run) {
  Json line{{"run", run.number}, {"file", run.file},       {"began", run.began},
            {"by", run.by},      {"comment", run.comment}, {"hits_between", run.hits_between}};
  if (run.unknown_between) line["unknown_between"] = true;
  add_line(folder, line);
}

void log_end(const std::filesystem::path& folder, const LoggedRun& run) {
  Json line{{"run", run.number}, {"ended", run.ended}, {"why", run.why}, {"by", run.ended_by}};
  if (run.exit_code) line["exit_code"] = *run.exit_code;
  line["events"] = run.totals.events;
  line["hits_in"] = run.totals.hits_in;
  line["hits_in_events"] = run.totals.hits_in_events;
  line["hits_lost"] = run.totals.hits_lost;
  add_line(folder, line);
}

std::string run_stem(std::uint64_t number) { return fmt::format("{}{:04}", kRunPrefix, number); }

std::uint64_t highest_run(const std::filesystem::path& folder, const std::vector<LoggedRun>& log) {
  std::uint64_t highest = 0;
  for (const auto& run : log) highest = std::max(highest, run.number);
  for (const auto& entry : entries_in(folder)) {
    const auto name = entry.filename().string();
    std::uint64_t number = 0;
    if (!name.starts_with(kRunPrefix)) continue;
    const auto* const end = name.data() + name.size();
    const auto digits = std::from_chars(name.data() + kRunPrefix.size(), end, number);
    const bool is_of_run = digits.ec == std::errc() && digits.ptr != end && *digits.ptr == '.';
    if (is_of_run && number <= kHighestRun) highest = std::max(highest, number);
  }
  return highest;
}

}  // namespace eventloom
