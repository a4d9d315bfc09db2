#include "app/observe/monitor.hpp"

#include <spdlog/sinks/ringbuffer_sink.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/command/safe_text.hpp"
#include "app/observe/access.hpp"
#include "app/observe/asker.hpp"
#include "app/observe/page/page.hpp"
#include "app/observe/prometheus_text.hpp"
#include "app/observe/replay_speed.hpp"
#include "app/observe/token.hpp"
#include "app/observe/utc_text.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

using LogSink = spdlog::sinks::ringbuffer_sink_mt;

constexpr std::size_t kLogLines = 50;
constexpr std::size_t kMostCommandsWaiting = 16;
constexpr std::size_t kMostCommandsKept = 1000;
/// Bytes of a program's name that distinguish two viewers.
constexpr std::size_t kMostAgent = 64;
constexpr auto kToSeeTheEnd = std::chrono::seconds(5);
constexpr std::size_t kLongestComment = 1000;
constexpr std::string_view kHistogramPath = "/histograms/";
/// Lifetime of a text's log and time of day; all else is valid until the next snapshot or command.
constexpr auto kTextHolds = std::chrono::seconds(1);

struct NamedCommand {
  const char* name;
  Command command;
};
constexpr std::array kCommands = {NamedCommand{"pause", Command::pause}, NamedCommand{"resume", Command::resume},
                                  NamedCommand{"speed", Command::speed}, NamedCommand{"new-file", Command::new_file},
                                  NamedCommand{"reset", Command::reset}, NamedCommand{"stop", Command::stop},
                                  NamedCommand{"end", Command::end}};

struct NamedRunCommand {
  const char* name;
  RunRequest::What what;
};
constexpr std::array kRunCommands = {NamedRunCommand{"start", RunRequest::What::start},
                                     NamedRunCommand{"stop-run", RunRequest::What::stop_run},
                                     NamedRunCommand{"next-run", RunRequest::What::next_run}};

/// `body` holds the command `known`.
AskedCommand run_command_in(const Json& body, const NamedRunCommand& known) {
  const bool begins = known.what != RunRequest::What::stop_run;
  if (!begins && (body.contains("number") || body.contains("comment"))) {
    throw UserError("stop-run takes no number and no comment: they belong to the run that begins");
  }
  RunRequest request{.what = known.what};
  std::string text = known.name;
  if (body.contains("number")) {
    const auto& number = body["number"];
    if (!number.is_unsigned() || number == 0) throw UserError("the number of a run must be an integer from 1");
    request.number = number.get<std::uint64_t>();
    text += fmt::format(" {}", *request.number);
  }
  if (body.contains("comment")) {
    if (!body["comment"].is_string()) throw UserError("the comment must be a text");
    request.comment = for_terminal(body["comment"].get<std::string>());
    if (request.comment.size() > kLongestComment) {
      throw UserError(fmt::format("the comment must be no longer than {} bytes", kLongestComment));
    }
  }
  return {{}, std::move(request), std::move(text)};
}

/// The JSON of a request; null if it is none. Throws UserError if it has a key twice: which of them counts is not said.
Json request_in(const std::string& body) {
  try {
    return Json::parse(body);
  } catch (const JsonKeyTwice& twice) {
    throw UserError("the body has \"" + for_terminal(twice.key()) + "\" twice");
  } catch (const JsonError&) {
    return {};
  }
}

/// Throws UserError if the body is not a command.
AskedCommand command_in(const std::string& body) {
  const auto json = request_in(body);
  const auto name = json.is_object() ? json.value("command", Json()) : Json();
  const auto* of_runs =
      std::ranges::find_if(kRunCommands, [&](const NamedRunCommand& one) { return name == one.name; });
  if (of_runs != kRunCommands.end()) return run_command_in(json, *of_runs);
  const auto* known = std::ranges::find_if(kCommands, [&](const NamedCommand& one) { return name == one.name; });
  if (known == kCommands.end()) {
    throw UserError(
        "the body must be {\"command\": \"pause\"}, or resume, speed, new-file, reset, stop, end, start, stop-run or "
        "next-run");
  }
  AskedCommand asked{{.command = known->command}, std::nullopt, known->name};
  if (known->command != Command::speed) return asked;
  const auto number = json.value("speed", Json());
  const double speed = number.is_number() ? number.get<double>() : -1;
  asked.request.speed_millionths = speed_in_millionths(speed);
  asked.text += fmt::format(" {:g}", speed);
  return asked;
}

HttpReply json_reply(unsigned status, const Json& body) {
  return {status, "application/json", shared_text(to_text(body) + "\n"), "", ""};
}

HttpReply wrong_method(const char* allowed) {
  auto reply = refusal(405, "this method is not possible here");
  reply.allow = allowed;
  return reply;
}

std::vector<LogLine> lines_of(LogSink& sink) {
  std::vector<LogLine> lines;
  for (const auto& line : sink.last_raw()) {
    const auto severity = spdlog::level::to_string_view(line.level);
    lines.push_back(
        {utc_text(line.time), {severity.data(), severity.size()}, {line.payload.data(), line.payload.size()}});
  }
  return lines;
}

}  // namespace

const std::array<Monitor::Route, Monitor::kTexts> Monitor::kRoutes = {
    Route{"/status", "application/json", &Monitor::status_text},
    Route{"/metrics", "text/plain; version=0.0.4; charset=utf-8", &Monitor::metrics_text},
    Route{"/events/latest", "application/json", &Monitor::events_text},
    Route{"/histograms", "application/json", &Monitor::histograms_text}};

MonitorSettings parse_monitor_address(const std::string& text) {
  const auto place = parse_listen_place(text);
  if (!place) throw UserError("--monitor: '" + text + "' is not [ADDR:]PORT, such as 8080 or 0.0.0.0:8080");
  MonitorSettings settings;
  settings.place = *place;
  return settings;
}

Monitor::Monitor(const MonitorSettings& settings, RunDescription run, RunDesk* desk)
    : token_(settings.token_file.empty() ? new_token() : token_of_file(settings.token_file)),
      desk_(desk),
      log_(std::make_shared<LogSink>(kLogLines)),
      run_(std::make_shared<RunDescription>(std::move(run))),
      snapshot_(std::make_shared<RunSnapshot>()),
      commands_(std::make_shared<Commands>()) {
  server_ = std::make_unique<HttpServer>(settings.place.address, settings.place.port,
                                         [this](const HttpRequest& request) { return answer(request); });
  add_log_sink(log_);
  // Bypasses the log, which everyone who can reach the monitor may read.
  const auto token = settings.token_file.empty() ? "; token to steer the run: " + token_ : std::string();
  std::fputs(("eventloom: info: monitor: " + server_->url() + token + "\n").c_str(), stderr);
}

Monitor::~Monitor() {
  server_.reset();
  remove_log_sink(log_);
}

void Monitor::describe(RunDescription run) {
  auto described = std::make_shared<const RunDescription>(std::move(run));
  const std::lock_guard lock(mutex_);
  run_ = std::move(described);
}

void Monitor::publish(std::shared_ptr<const RunSnapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(snapshot);
}

std::vector<Request> Monitor::take_commands() {
  if (!asked_.exchange(false)) return {};
  const std::lock_guard lock(mutex_);
  std::vector<Request> commands(queue_.begin(), queue_.end());
  queue_.clear();
  return commands;
}

std::vector<CommandRecord> Monitor::close_commands() {
  const std::lock_guard lock(mutex_);
  takes_commands_ = false;
  return *commands_;
}

void Monitor::open_commands() {
  const std::lock_guard lock(mutex_);
  takes_commands_ = true;
  commands_ = std::make_shared<Commands>();
}

void Monitor::conclude(std::shared_ptr<const RunSnapshot> snapshot) {
  std::unique_lock lock(mutex_);
  snapshot_ = std::move(snapshot);
  seen_.wait_for(lock, kToSeeTheEnd, [this] { return viewers_.all_saw_the_end(std::chrono::steady_clock::now()); });
}

// The following functions run on the server's thread.

HttpReply Monitor::answer(const HttpRequest& request) {
  const bool steers = request.path == "/control";
  auto reply = refuse_host(request);
  if (!reply) reply = steers ? answer_control(request) : answer_read(request);
  if (steers && !reply->refused.empty()) {
    refusals_.say(reply->refused, name_of_asker(request), std::chrono::steady_clock::now());
  }
  return *reply;
}

HttpReply Monitor::answer_read(const HttpRequest& request) {
  const auto reply = reply_of(request);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  return reply.status == 200 && !reads ? wrong_method("GET, HEAD") : reply;
}

HttpReply Monitor::reply_of(const HttpRequest& request) {
  static const auto page = shared_text(page_for_monitor());
  const auto& path = request.path;
  if (path == "/") return {200, "text/html; charset=utf-8", page, "", "", "", kPagePolicy};
  if (path.starts_with(kHistogramPath)) return histogram_reply(request);
  const auto route = std::ranges::find(kRoutes, path, &Route::path);
  if (route == kRoutes.end()) {
    return refusal(404, "there is /, /status, /metrics, /events/latest, /histograms, /histograms/NAME and /control");
  }
  const auto seen = look();
  if (path == "/status") note_looking(request, seen);
  auto& text = texts_[static_cast<std::size_t>(route - kRoutes.begin())];
  const auto now = std::chrono::steady_clock::now();
  if (!text.text || text.seen != seen || now - text.made > kTextHolds) {
    text = {seen, now, shared_text((this->*route->make)(seen))};
  }
  return {200, route->content_type, text.text, "", ""};
}

std::string Monitor::status_text(const Seen& seen) const {
  const auto lines = lines_of(static_cast<LogSink&>(*log_));
  return to_text(status_document(*seen.run, *seen.snapshot, *seen.commands, lines)) + "\n";
}

std::string Monitor::metrics_text(const Seen& seen) const { return prometheus_text(*seen.run, *seen.snapshot); }

std::string Monitor::events_text(const Seen& seen) const {
  return to_text(latest_events(*seen.run, *seen.snapshot)) + "\n";
}

std::string Monitor::histograms_text(const Seen& /*seen*/) const { return histograms_.list_text(); }

/// Lets clients that watch a histogram fetch its final counts.
HttpReply Monitor::histogram_reply(const HttpRequest& request) {
  const auto seen = look();
  const auto text = histograms_.text_of(std::string_view(request.path).substr(kHistogramPath.size()));
  if (!text) return refusal(404, "there is no such histogram: /histograms lists those of this run");
  note_looking(request, seen);
  return {200, "application/json", text, "", ""};
}

Monitor::Seen Monitor::look() const {
  const std::lock_guard lock(mutex_);
  return {run_, snapshot_, commands_};
}

void Monitor::note_looking(const HttpRequest& request, const Seen& seen) {
  const bool at_the_end = seen.snapshot->exit_code.has_value();
  const std::lock_guard lock(mutex_);
  const auto name = name_of_asker(request) + " " + request.agent.substr(0, kMostAgent) + " " + request.path;
  viewers_.looked(name, at_the_end, std::chrono::steady_clock::now());
  if (at_the_end) seen_.notify_all();
}

HttpReply Monitor::answer_control(const HttpRequest& request) {
  if (request.method != "POST") return wrong_method("POST");
  if (auto reply = refuse_change(request, token_)) return *reply;
  if (!request.content_type.starts_with("application/json")) {
    return refusal(415, "the content type must be application/json");
  }
  AskedCommand asked;
  try {
    asked = command_in(request.body);
  } catch (const UserError& error) {
    return refusal(400, error.what());
  }
  const CommandRecord record{utc_text(std::chrono::system_clock::now()), name_of_asker(request), asked.text,
                             "accepted"};
  if (asked.run) asked.run->from = record.from;
  if (auto reply = accept(asked, record)) return *reply;
  log::warn("command {} from {}", record.command, record.from);
  return json_reply(202, to_json(record));
}

/// Why a request is refused at present; those that begin or end a run are accepted by the desk. Call under the mutex.
std::optional<HttpReply> Monitor::refuse_request(const AskedCommand& asked) {
  const auto command = asked.request.command;
  const bool of_program = desk_ != nullptr && (asked.run || command == Command::stop || command == Command::end);
  if (snapshot_->exit_code || !takes_commands_) {
    if (!of_program) return refusal(409, "the run has ended");
  } else if (desk_ != nullptr && !of_program && desk_->run().empty()) {
    return refusal(409, "no run is active; start begins one");
  }
  if (command == Command::speed && run_->all_live) {
    return refusal(409, "all sources are live: they come at the speed of the experiment");
  }
  if (command == Command::reset && run_->histograms.empty()) {
    return refusal(409, "the run has no histograms to reset: --hist defines them");
  }
  if (queue_.size() >= kMostCommandsWaiting || commands_->size() >= kMostCommandsKept) {
    return refusal(429, "too many commands");
  }
  if (!asked.run) return std::nullopt;
  if (desk_ == nullptr) return refusal(409, "the program has only this run: it was started without --runs");
  const auto refused = desk_->ask(*asked.run);
  return refused.empty() ? std::nullopt : std::optional(refusal(409, refused));
}

/// Queues the request and returns std::nullopt, or returns the refusal.
std::optional<HttpReply> Monitor::accept(const AskedCommand& asked, const CommandRecord& record) {
  const std::lock_guard lock(mutex_);
  if (auto reply = refuse_request(asked)) return reply;
  if (!asked.run) queue_.push_back(asked.request);
  auto commands = *commands_;
  commands.push_back(record);
  commands_ = std::make_shared<const Commands>(std::move(commands));
  asked_ = true;
  return std::nullopt;
}

}  // namespace eventloom
