#include "app/tools/bench/transports.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "app/command/launcher.hpp"
#include "app/command/options.hpp"
#include "app/command/temporary_folder.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Options of the whole comparison that are not passed to the benchmark over each transport.
constexpr std::array<std::string_view, 5> kOfTheWhole = {"transports", "ranks", "report-json", "raw", "plot"};

std::string config_of_one(const std::string& effective_config) {
  std::istringstream lines(effective_config);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.substr(0, line.find(' '));
    if (std::ranges::find(kOfTheWhole, name) == kOfTheWhole.end()) kept += line + "\n";
  }
  return kept;
}

std::string last_line_of(std::string text) {
  text.erase(text.find_last_not_of("\n- ") + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// One benchmark in separate ranks.
class OverTransport {
 public:
  OverTransport(const BenchView& view, std::uint64_t ranks, bool raw, const std::string& config) : folder_("bench") {
    std::ofstream(folder_.file("bench.ini")) << config;
    const auto exe = std::filesystem::read_symlink("/proc/self/exe").string();
    words_ = words_to_launch(ranks);
    words_.insert(words_.end(), {exe, "bench", view.bench});
    for (const auto& [option, file] : {std::pair("--config", "bench.ini"), {"--report-json", "bench.json"}}) {
      words_.insert(words_.end(), {option, folder_.file(file)});
    }
    if (raw) words_.insert(words_.end(), {"--raw", raw_file()});
  }

  [[nodiscard]] std::string raw_file() const { return folder_.file("bench.csv"); }

  /// Returns the exit code. Throws UserError, with the last words of the benchmark, if it has measured nothing.
  [[nodiscard]] int run(const std::string& transport, const Environment& environment) const {
    const MemoryFile said;
    Program program;
    program.words = words_;
    program.environment = with_variables(environment, {{"UCX_TLS", transport + ",self"}});
    program.output = said.descriptor();
    program.errors = said.descriptor();
    program.ends_with_us = true;
    const auto end = end_of(Subprocess(program));
    const bool measured = end.signal == 0 && (end.exit_code == kExitOk || end.exit_code == kExitLosses);
    if (!measured) throw UserError("--transports: over " + transport + ": " + reason(said.text()));
    repeat_warnings(said.text(), transport);
    return end.exit_code;
  }

  [[nodiscard]] Json report() const {
    std::ifstream file(folder_.file("bench.json"));
    return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  }

 private:
  /// Waits. Throws UserError if a signal asks to stop: the ranks end first, and the folder of their files goes, too.
  static ChildEnd end_of(Subprocess ranks) {
    constexpr std::chrono::milliseconds kNap{20};
    while (stop_signal() == 0) {
      if (const auto end = ranks.poll()) return *end;
      std::this_thread::sleep_for(kNap);
    }
    ranks.stop();
    ranks.wait();
    throw UserError("--transports: stopped by " + signal_name(stop_signal()));
  }

  /// Extracts the message that explains most: our own, or that of UCX, which names the transports that exist.
  static std::string reason(const std::string& said) {
    const auto lines = "\n" + said;
    for (const std::string_view begin : {"\neventloom bench: ", "UCX  WARN  ", "UCX  ERROR "}) {
      const auto found = lines.rfind(begin);
      if (found == std::string::npos) continue;
      const auto text = lines.substr(found + begin.size());
      return text.substr(0, text.find('\n'));
    }
    return last_line_of(said);
  }

  /// The load of the machine is measured here, too, over all transports.
  static void repeat_warnings(const std::string& said, const std::string& transport) {
    constexpr std::string_view kWarning = "eventloom: warning: ";
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(kWarning)) continue;
      const auto text = line.substr(kWarning.size());
      if (!text.starts_with(kLoadWarning)) log::warn("over {}: {}", transport, text);
    }
  }

  TemporaryFolder folder_;
  std::vector<std::string> words_;
};

std::vector<std::string> transports_option(const po::variables_map& values) {
  auto names = words_of(values["transports"].as<std::string>());
  for (const auto& name : names) {
    const bool plain = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!plain) throw UserError("--transports: '" + name + "' is no name of a UCX transport, such as shm, tcp or rc");
  }
  if (names.empty()) throw UserError("--transports names no transport");
  return names;
}

}  // namespace

void add_transport_options(po::options_description& options) {
  add_option_rows(options, {{"transports", text_value("LIST", "", "none"),
                             "UCX transports to compare, e.g. shm,tcp: starts its own ranks, call it without mpirun"},
                            {"ranks", text_value("N", kRanksOfTransports), "ranks that --transports starts"}});
}

int bench_over_transports(BenchView view, const po::variables_map& values, const std::string& effective_config,
                          const Communicator& communicator, const Environment& environment) {
  agree(communicator, [&] {
    if (communicator.size() == 1) return;
    throw UserError("--transports starts its own ranks: call it without mpirun, with --ranks N");
  });
  const auto transports = transports_option(values);
  const auto ranks = count_option(values, "ranks", 1, 1000);
  catch_stop_signals();
  view.columns.insert(view.columns.begin(), {"transport", "over", "", 0});
  BenchRun run(view.bench, values, effective_config, view.columns, communicator);
  int code = kExitOk;
  for (const auto& transport : transports) {
    const OverTransport one(view, ranks, run.times_kept().each, config_of_one(effective_config));
    code = std::max(code, one.run(transport, environment));
    run.adopt(one.report(), transport, one.raw_file());
  }
  return run.finish(view.plots(run.points()), code);
}

}  // namespace eventloom
