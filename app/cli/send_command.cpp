#include <algorithm>
#include <charconv>
#include <iostream>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/tools/send/configure_board.hpp"
#include "app/tools/send/live_sender.hpp"
#include "app/tools/send/recorded_stream.hpp"
#include "app/tools/send/sending_options.hpp"
#include "app/tools/send/trb_player.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "formats/units.hpp"
#include "io/recorded/looped_source.hpp"
#include "io/registry/clock_eras.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/source_turns.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Separates the last hits of a pass from the first hits of the next.
constexpr Epoch kLoopGap = 100;
constexpr std::uint64_t kMostPasses = 1'000'000'000'000;

void add_send_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"source", list_value("URI"), "what to send, repeatable; see 'eventloom run --help'"},
       {"speed", po::value<double>()->value_name("X")->default_value(1, "1"), "times as fast as recorded; 0: flat out"},
       {"rate", po::value<double>()->value_name("N")->default_value(0, "0"),
        "to trb://: events a second; 0: as fast as it goes"},
       {"bandwidth", text_value("BYTES", "0"), "a second, of all datagrams together, at most; 0: no limit"},
       {"loop", text_value("N", "1"), "send N times, for .epochs files and to trb://; times continue"},
       {"configure", text_value("FILE"),
        "instead of sources: transfers this file to each board that --to names and that accepts files, and continues "
        "where an earlier attempt ended"},
       {"ids", text_value("LIST"), "source numbers to send, as in 3,5,9 (default 0,1,2...)"},
       {"tick", text_value("TIME"), "unit of time (default 1ns)"},
       {"epoch", text_value("TIME"), "length of an epoch (default 10us; 500ns with --tick 1ps)"}});
  add_sending_options(options);
}

std::uint64_t bandwidth_of(const po::variables_map& values) {
  return parsed("bandwidth", [&] { return parse_bytes(values["bandwidth"].as<std::string>()); });
}

std::vector<std::uint32_t> source_ids(const po::variables_map& values, std::size_t sources) {
  std::vector<std::uint32_t> ids;
  if (values.count("ids") == 0) {
    for (std::uint32_t id = 0; id < sources; ++id) ids.push_back(id);
    return ids;
  }
  const auto& text = values["ids"].as<std::string>();
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw UserError("--ids: '" + text + "' is not a list of numbers such as 3,5,9");
    }
    ids.push_back(id);
  }
  if (ids.size() != sources || std::set(ids.begin(), ids.end()).size() != sources) {
    throw UserError("--ids: '" + text + "' does not name " + std::to_string(sources) +
                    " different sources, one for each source sent");
  }
  return ids;
}

/// Plays HLD files as TRB boards would.
int send_to_trb(const po::variables_map& values, std::vector<std::string> ports) {
  if (!values["speed"].defaulted()) {
    throw UserError("--speed: HLD files do not record the times of events; use --rate N events a second");
  }
  std::vector<std::string> files;
  for (const auto& spec : expand_sources(values["source"].as<std::vector<std::string>>())) {
    if (!scheme_of(spec.uri).trb_events) {
      throw UserError("'" + spec.uri.text() + "' is not an HLD file; --to trb:// sends only those");
    }
    files.push_back(spec.uri.path());
  }
  TrbPlaySettings settings;
  settings.to = std::move(ports);
  settings.rate = values["rate"].as<double>();
  if (!(settings.rate >= 0) || settings.rate > 1e9) throw UserError("--rate must be from 0 to 1e9");
  settings.bandwidth = bandwidth_of(values);
  settings.passes = count_option(values, "loop", 1, kMostPasses);
  catch_stop_signals();
  TrbPlayer player(std::move(settings));
  player.play(files, asked_to_stop);
  player.print(std::cout);
  if (player.left_out() == 0) return kExitOk;
  log::error("{} damaged places and events too large for a datagram were not sent", player.left_out());
  return kExitLosses;
}

std::unique_ptr<Source> open(const SourceSpec& spec, std::size_t number, const TimeBaseOptions& options) {
  if (is_live(spec.uri)) {
    throw UserError("'" + spec.uri.text() + "' is live; record it first with 'eventloom convert'");
  }
  auto source = open_source(spec, SourceId{static_cast<std::uint16_t>(number)}, options);
  if ((source->header().flags & kSorted) != 0) {
    throw UserError("'" + source->name() + "' holds time-sorted hits of a run; send the run's sources instead");
  }
  return source;
}

/// Returns one period for all sources, so that they stay together.
Epoch period_of(const std::vector<std::unique_ptr<Source>>& sources) {
  Epoch first = std::numeric_limits<Epoch>::max();
  Epoch end = 0;
  for (const auto& source : sources) {
    if (!(source->header().base == sources.front()->header().base)) {
      throw UserError("--loop: '" + source->name() + "' has other ticks or epochs than '" + sources.front()->name() +
                      "'; send them separately");
    }
    if (!source->end_epoch()) {
      throw UserError("--loop: '" + source->name() + "' is not an .epochs file; convert it first");
    }
    first = std::min(first, source->first_epoch().value_or(first));
    end = std::max(end, *source->end_epoch());
  }
  return loop_period(first, end, kLoopGap);
}

std::vector<std::unique_ptr<Source>> open_all(const std::vector<SourceSpec>& specs, const TimeBaseOptions& options,
                                              std::uint64_t passes) {
  std::vector<std::unique_ptr<Source>> sources;
  for (std::size_t i = 0; i < specs.size(); ++i) sources.push_back(open(specs[i], i, options));
  if (passes == 1) return sources;
  const Epoch period = period_of(sources);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    sources[i] = std::make_unique<LoopedSource>([=] { return open(specs[i], i, options); }, passes, period);
  }
  return sources;
}

/// Sends each source as the stream of a board.
int send_streams(const po::variables_map& values) {
  if (!values["rate"].defaulted()) throw UserError("--rate is for trb:// destinations; use --speed or --bandwidth");
  auto specs = expand_sources(values["source"].as<std::vector<std::string>>());
  place_turns(specs);
  place_eras_of_clocks(specs, time_base_options(values));
  auto settings = sending_options(values, specs.size());
  settings.speed = values["speed"].as<double>();
  if (!(settings.speed >= 0) || settings.speed > 1e9) throw UserError("--speed must be from 0 to 1e9");
  settings.bandwidth = bandwidth_of(values);
  const auto ids = source_ids(values, specs.size());
  const auto passes = count_option(values, "loop", 1, kMostPasses);
  catch_stop_signals();
  auto sources = open_all(specs, time_base_options(values), passes);
  std::vector<std::unique_ptr<PacedStream>> streams;
  std::vector<const RecordedStream*> recorded;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto stream = std::make_unique<RecordedStream>(std::move(sources[i]), ids[i]);
    recorded.push_back(stream.get());
    streams.push_back(std::move(stream));
  }
  LiveSender sender(std::move(settings), std::move(streams));
  print_sent(sender.run(asked_to_stop), std::cout);
  bool whole = true;
  for (const auto* stream : recorded) {
    if (stream->damaged() == 0) continue;
    whole = false;
    log::error("{}: {} damaged places were dropped or sent unchanged", stream->name(), stream->damaged());
  }
  return whole ? kExitOk : kExitLosses;
}

/// Transfers a file to each of the boards that --to names.
int send_configuration(const po::variables_map& values) {
  constexpr std::size_t kEthernet = 1472;  // longest datagram that fits an MTU of 1500 unfragmented
  for (const char* other :
       {"source", "speed", "rate", "loop", "ids", "tick", "epoch", "flush-after", "resend", "session"}) {
    if (values.count(other) != 0 && !values[other].defaulted()) {
      throw UserError("--configure sends a file and no streams: leave out " +
                      std::string(other == std::string_view("source") ? "the sources" : "--" + std::string(other)));
    }
  }
  const auto boards =
      values.count("to") == 0 ? std::vector<std::string>() : values["to"].as<std::vector<std::string>>();
  for (auto to = boards.begin(); to != boards.end(); ++to) {
    if (std::find(boards.begin(), to, *to) != to) throw UserError("--to: '" + *to + "' is given twice");
  }
  const auto sending = sending_options(values, std::max<std::size_t>(boards.size(), 1));
  ConfigureSettings settings;
  settings.file = values["configure"].as<std::string>();
  settings.to = sending.to;
  settings.datagram_bytes = values["datagram"].defaulted() ? kEthernet : sending.datagram_bytes;
  settings.bandwidth = bandwidth_of(values);
  catch_stop_signals();
  return configure_boards(settings, [] { return stop_signal() != 0; });
}

}  // namespace

int send_command(int argc, const char* const* argv) {
  CommandLine line(
      "send",
      "send URI... --to udp://HOST:PORT [options]\nReplays recorded streams over UDP, as boards would send "
      "them, all on one clock; or the subevents of HLD files as TRB boards. With --configure, brings a file to "
      "boards.");
  add_send_options(line.options());
  line.positional("source", -1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("configure") != 0) return send_configuration(*values);
  if (values->count("source") == 0) throw UserError("no source given; see 'eventloom send --help'");
  if (auto ports = trb_ports(*values); !ports.empty()) return send_to_trb(*values, std::move(ports));
  return send_streams(*values);
}

}  // namespace eventloom
