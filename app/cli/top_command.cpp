#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/command/safe_text.hpp"
#include "app/observe/http_client.hpp"
#include "app/observe/progress.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr unsigned kFound = 200;
constexpr std::size_t kMostColumns = 200;  // columns of a text

double number(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0;
}

/// Names come from data files and the answer may come from any program: its text must not control the terminal.
std::string text(const Json& json, const char* name) {
  if (!json.contains(name) || !json[name].is_string()) return "";
  return end_of(for_terminal(json[name].get<std::string>()), kMostColumns);
}

std::uint64_t count(const Json& json) { return json.get<std::uint64_t>(); }

std::string head(const Json& status) {
  const auto& run = status.at("run");
  const auto& rates = status.at("rates");
  const auto& ledger = status.at("ledger");
  auto line = fmt::format("{}: {}, {:.0f} s", text(run, "name"), text(status, "state"), number(run, "elapsed_s"));
  if (run.at("share_done").is_number()) line += fmt::format(", {:.1f} % done", 100 * number(run, "share_done"));
  if (run.at("remaining_s").is_number()) line += fmt::format(", {:.0f} s left", number(run, "remaining_s"));
  line += fmt::format(
      "\n{} hits/s, {:.1f} MB/s, {} events/s, {} slices, {} hits in events, {} hits lost, rings {:.0f} % full\n",
      scaled(number(rates, "hits_per_s")), number(rates, "bytes_per_s") / 1e6, scaled(number(rates, "events_per_s")),
      count(ledger.at("slices")), count(ledger.at("hits_in_events")), count(ledger.at("lost")),
      100 * number(status, "ring_fill"));
  return line;
}

/// The name that the detector map gives a source comes first.
std::string labelled_name(const Json& row) {
  const auto label = text(row, "label");
  return label.empty() ? text(row, "name") : label + ": " + text(row, "name");
}

std::string rows(const Json& status) {
  auto lines = fmt::format("{:<8} {:>5} {:>12} {:>12} {:>10} {:<10} {}\n", "source", "rank", "hits", "MB/s", "lost",
                           "state", "name");
  for (const auto& row : status.at("sources")) {
    lines += fmt::format("{:<8} {:>5} {:>12} {:>12.2f} {:>10} {:<10} {}\n", number(row, "index"), number(row, "rank"),
                         number(row, "hits"), number(row, "bytes_per_s") / 1e6, number(row, "lost"), text(row, "state"),
                         labelled_name(row));
  }
  lines +=
      fmt::format("{:<8} {:>5} {:>12} {:>12} {:>10} {:<10}\n", "builder", "rank", "hits", "hits/s", "slices", "busy");
  for (const auto& row : status.at("builders")) {
    lines += fmt::format("{:<8} {:>5} {:>12} {:>12} {:>10} {:.0f} %\n", number(row, "index"), number(row, "rank"),
                         number(row, "hits"), scaled(number(row, "hits_per_s")), number(row, "slices"),
                         100 * number(row, "busy"));
  }
  return lines;
}

/// Describes how the run has ended, or why it is about to end.
std::string ending(const Json& status) {
  auto line = text(status, "message");
  if (status.at("run").contains("exit_code")) {
    line += fmt::format("{}exit code {}", line.empty() ? "" : ", ", number(status["run"], "exit_code"));
  }
  return line.empty() ? line : line + "\n";
}

/// Returns a line for each alarm that is active or has been raised.
std::string alarms(const Json& status) {
  std::string lines;
  for (const auto& alarm : status.at("alarms")) {
    const bool active = alarm.at("active").get<bool>();
    if (!active && !alarm.at("raised").is_string()) continue;
    const auto* form = active ? "alarm: {}, since {}\n" : "alarm over: {}, last raised {}\n";
    lines += fmt::format(fmt::runtime(form), text(alarm, "condition"), text(alarm, "raised"));
  }
  return lines;
}

Json status_at(const MonitorUrl& url) {
  const auto answer = ask(url, "/status");
  auto json = Json::try_parse(answer.body);
  if (answer.status != kFound || !json.is_object()) throw UserError("no monitor of Eventloom answers there");
  return json;
}

enum class Seen : std::uint8_t { nothing, running, stopping, ended };

/// Polls once and returns what is known of the run; `before`: what was known earlier. A run that is stopping does not
/// wait for slow viewers.
Seen look(const MonitorUrl& url, Seen before) {
  const bool seen = before != Seen::nothing;
  try {
    const auto status = status_at(url);
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    std::cout << (terminal ? "\033[H\033[J"
                  : seen   ? "\n"
                           : "")
              << head(status) << ending(status) << alarms(status) << rows(status) << std::flush;
    if (status["run"].contains("exit_code")) return Seen::ended;
    return text(status, "state") == "stopping" ? Seen::stopping : Seen::running;
  } catch (const NoAnswerInTime& e) {
    if (!seen) throw;
    std::cout << e.what() << "; asking again\n" << std::flush;
    return before;
  } catch (const UserError&) {
    if (!seen) throw;
    if (before != Seen::stopping) {
      throw UserError("connection lost: the run may have failed; see its output");
    }
    std::cout << "connection lost: the run has stopped; see its output\n";
    return Seen::ended;
  } catch (const JsonError&) {
    throw UserError("the monitor's answer cannot be understood: it is of another version");
  }
}

}  // namespace

int top_command(int argc, const char* const* argv) {
  CommandLine line("top",
                   "top URL\nShows once a second what a run started with --monitor does, until it ends. Exit code 2: "
                   "no answer, or the connection was lost although the run had not been stopped.");
  line.options().add_options()("url", text_value("URL"), "of the monitor, as the run says it");
  line.positional("url", 1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("url") == 0) throw UserError("a URL is needed; see 'eventloom top --help'");
  const auto url = parse_monitor_url((*values)["url"].as<std::string>());
  for (auto seen = look(url, Seen::nothing); seen != Seen::ended; seen = look(url, seen)) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return kExitOk;
}

}  // namespace eventloom
