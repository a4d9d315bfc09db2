#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command/listen_place.hpp"
#include "app/observe/histogram_desk.hpp"
#include "app/observe/http_server.hpp"
#include "app/observe/refusal_log.hpp"
#include "app/observe/run_description.hpp"
#include "app/observe/run_desk.hpp"
#include "app/observe/run_snapshot.hpp"
#include "app/observe/status_document.hpp"
#include "app/observe/viewers.hpp"
#include "formats/control_wire.hpp"

namespace spdlog::sinks {
class sink;
}

namespace eventloom {

/// A client's command: to the active run, or to begin or end one.
struct AskedCommand {
  Request request = {};
  std::optional<RunRequest> run = {};
  std::string text = {};  ///< text for the log
};

struct MonitorSettings {
  ListenPlace place;
  std::string token_file;  ///< empty: a new token is generated and printed
};

/// Parses "8080", "0.0.0.0:8080" or "[::1]:8080". Throws UserError.
MonitorSettings parse_monitor_address(const std::string& text);

/// Serves what rank 0 knows of its run, and takes commands. The server's thread reads immutable snapshots and puts
/// commands into a queue; it accesses nothing else of the run. Members are for the main thread unless stated otherwise.
class Monitor {
 public:
  /// Listens and prints the URL. `desk`: where runs are begun and ended; null: the program has only one. It must
  /// outlive the monitor. Throws UserError.
  Monitor(const MonitorSettings& settings, RunDescription run, RunDesk* desk);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void describe(RunDescription run);
  void publish(std::shared_ptr<const RunSnapshot> snapshot);
  [[nodiscard]] HistogramDesk& histograms() { return histograms_; }
  /// Returns the commands that arrived since the last call, oldest first.
  std::vector<Request> take_commands();
  /// Stops accepting commands and returns all that were accepted.
  [[nodiscard]] std::vector<CommandRecord> close_commands();
  /// Accepts commands again, those of the next run.
  void open_commands();
  /// Publishes the end of the run. Waits at most five seconds until all recent viewers have seen it.
  void conclude(std::shared_ptr<const RunSnapshot> snapshot);

  /// Runs on the server's thread.
  HttpReply answer(const HttpRequest& request);

 private:
  using Commands = std::vector<CommandRecord>;
  /// State that the server's thread works on while the main thread continues.
  struct Seen {
    std::shared_ptr<const RunDescription> run;
    std::shared_ptr<const RunSnapshot> snapshot;
    std::shared_ptr<const Commands> commands;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct Route {
    std::string_view path;
    const char* content_type;
    std::string (Monitor::*make)(const Seen&) const;
  };
  static constexpr std::size_t kTexts = 4;
  static const std::array<Route, kTexts> kRoutes;
  /// Generated once for all clients, so that the cost does not grow with their number.
  struct Text {
    Seen seen;
    std::chrono::steady_clock::time_point made;
    std::shared_ptr<const std::string> text;
  };

  HttpReply answer_read(const HttpRequest& request);
  HttpReply reply_of(const HttpRequest& request);
  [[nodiscard]] std::string status_text(const Seen& seen) const;
  [[nodiscard]] std::string metrics_text(const Seen& seen) const;
  [[nodiscard]] std::string events_text(const Seen& seen) const;
  [[nodiscard]] std::string histograms_text(const Seen& seen) const;
  HttpReply histogram_reply(const HttpRequest& request);
  [[nodiscard]] Seen look() const;
  void note_looking(const HttpRequest& request, const Seen& seen);
  HttpReply answer_control(const HttpRequest& request);
  std::optional<HttpReply> accept(const AskedCommand& asked, const CommandRecord& record);
  [[nodiscard]] std::optional<HttpReply> refuse_request(const AskedCommand& asked);

  std::string token_;
  RunDesk* desk_;
  std::shared_ptr<spdlog::sinks::sink> log_;
  std::array<Text, kTexts> texts_;  ///< one per element of kRoutes; used only by the server's thread
  HistogramDesk histograms_;
  RefusalLog refusals_;             ///< used only by the server's thread
  std::atomic<bool> asked_{false};  ///< the queue is not empty
  mutable std::mutex mutex_;        ///< guards the members below; held only briefly
  std::condition_variable seen_;
  std::shared_ptr<const RunDescription> run_;
  std::shared_ptr<const RunSnapshot> snapshot_;
  std::deque<Request> queue_;
  bool takes_commands_ = true;
  std::shared_ptr<const Commands> commands_;
  Viewers viewers_;
  std::unique_ptr<HttpServer> server_;  ///< declared last: its thread uses the other members
};

}  // namespace eventloom
