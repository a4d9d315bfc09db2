#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/command/safe_text.hpp"
#include "app/observe/http_client.hpp"
#include "app/observe/replay_speed.hpp"
#include "app/observe/token.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/run_log.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr unsigned kAccepted = 202;
constexpr std::size_t kMostError = 200;

std::string token_of(const po::variables_map& values) {
  const auto& file = values["token-file"].as<std::string>();
  if (!file.empty()) return token_of_file(file);
  const char* token = std::getenv("EVENTLOOM_TOKEN");
  if (token != nullptr && *token != '\0') return checked_token(token, "the token in EVENTLOOM_TOKEN");
  throw UserError("no token given; use --token-file FILE or the environment variable EVENTLOOM_TOKEN");
}

/// Returns the monitor's error message. The sender may be any program.
std::string error_in(const HttpAnswer& answer) {
  const auto json = Json::try_parse(answer.body);
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    return for_terminal(json["error"].get<std::string>().substr(0, kMostError));
  }
  return "no monitor of Eventloom answers there";
}

void require_command(const std::string& command) {
  constexpr std::array<std::string_view, 10> kAll = {"pause", "resume", "speed", "new-file", "reset",
                                                     "stop",  "end",    "start", "stop-run", "next-run"};
  if (std::ranges::find(kAll, command) != kAll.end()) return;
  throw UserError("there is no command '" + command + "'" + did_you_mean(command, kAll) +
                  "; use pause, resume, speed X, new-file, reset, stop, end, start, stop-run or next-run");
}

/// Adds number and comment of the run to begin.
void add_run_options(Json& body, const std::string& command, const po::variables_map& values) {
  const bool begins = command == "start" || command == "next-run";
  for (const char* option : {"number", "comment"}) {
    if (values.count(option) == 0 || begins) continue;
    throw UserError("--" + std::string(option) + " belongs to start and next-run, not to " + command);
  }
  if (values.count("number") != 0) body["number"] = count_option(values, "number", 1, kHighestRun);
  if (values.count("comment") != 0) body["comment"] = values["comment"].as<std::string>();
}

Json body_of(const std::string& command, const po::variables_map& values) {
  require_command(command);
  const auto& value = values["value"];
  if ((command == "speed") == value.empty()) {
    throw UserError(value.empty() ? "speed needs a number, such as 'speed 2'"
                                  : command + " takes no value; a run's number is given as --number N");
  }
  Json body{{"command", command}};
  if (!value.empty()) body["speed"] = parse_replay_speed(value.as<std::string>());
  add_run_options(body, command, values);
  return body;
}

}  // namespace

int control_command(int argc, const char* const* argv) {
  CommandLine line(
      "control",
      "control URL pause|resume|speed X|new-file|reset|stop|end|start|stop-run|next-run [options]\n"
      "Steers a run that was started with --monitor. speed: of recordings, in multiples of the recorded one; 0: as "
      "fast "
      "as possible. new-file: each writer finishes its part file and begins another. reset: the histograms of the "
      "monitor begin again from zero, those of the output do not. stop: cleanly, so that --resume continues; end: "
      "likewise, but the live run is then complete. With --runs also: start: begin the next run; stop-run: end this "
      "one; next-run: end it, and begin the next without a gap.");
  add_option_rows(line.options(),
                  {{"url", text_value("URL"), "URL of the monitor, as printed by the run"},
                   {"command", text_value("COMMAND"),
                    "pause, resume, speed, new-file, reset, stop, end, start, stop-run or next-run"},
                   {"value", text_value("X"), "with speed: how fast"},
                   {"number", text_value("N"), "number of the run to begin, above all earlier ones"},
                   {"comment", text_value("TEXT"), "comment on the run to begin, for the log and its output"},
                   {"token-file", text_value("FILE", "", "EVENTLOOM_TOKEN in the environment"),
                    "file with the token that the run was given or has printed"}});
  line.positional("url", 1);
  line.positional("command", 1);
  line.positional("value", 1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("url") == 0 || values->count("command") == 0) {
    throw UserError("a URL and a command are needed; see 'eventloom control --help'");
  }
  const auto& command = (*values)["command"].as<std::string>();
  const auto body = body_of(command, *values);
  const auto url = parse_monitor_url((*values)["url"].as<std::string>());
  const auto answer = ask(url, "/control", body.dump(), token_of(*values));
  if (answer.status != kAccepted) throw UserError(command + " was refused: " + error_in(answer));
  std::cout << command << ": accepted\n";
  return kExitOk;
}

}  // namespace eventloom
