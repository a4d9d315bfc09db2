#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/stop_signal.hpp"
#include "formats/units.hpp"
#include "io/registry/open_sources.hpp"
#include "io/serve/mbs_server.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr std::uint16_t kTransportPort = 6000;
constexpr std::uint16_t kStreamPort = 6002;

void add_serve_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"file", list_value("FILE"),
        "recording (.lmd, .hld, .epochs) or output of a run (.h5) to send, repeatable: back to back; for --speed .lmd "
        "with the source of the times: 'lmd:FILE?time=wr', see 'eventloom run --help'"},
       {"protocol", text_value("NAME", "transport"),
        "transport: all data are pushed to every client, and the slowest delays the others; stream: each client "
        "requests buffers, and loses those it does not request in time"},
       {"address", text_value("ADDR", "127.0.0.1"),
        "to listen on, IPv4, IPv6 or a name; anyone who can reach it can read the data"},
       {"port", text_value("N", "", "6000, with stream 6002"), "to listen on; 0: a free one"},
       {"buffers", text_value("KIND", "variable"),
        "variable: as long as their contents, as DABC; native: of one size, as MBS"},
       {"buffer-size", text_value("BYTES", "64KiB"),
        "of a native buffer, maximum of variable ones; with the header of 48 bytes"},
       {"stream-buffers", text_value("N", "8"),
        "native buffers of an MBS stream, the reply to one request; events continue from one to the next"},
       {"byte-order", text_value("NAME", "little"), "little or big, of all data sent"},
       {"speed", text_value("X", "0", "as fast as it goes"),
        "times as fast as recorded, by the events' times (1: as recorded)"},
       {"rate", text_value("N", "0", "as fast as it goes"), "events per second"},
       {"flush-after", text_value("TIME", "100ms"),
        "with --speed or --rate: the longest that an event waits for its buffer to fill"},
       {"loop", text_value("N", "1"), "send the files N times; event numbers continue, times in the data do not"},
       {"clients", text_value("N", "1"),
        "wait for N clients before the first event; what leaves at once, or sends something else than MBS requests, is "
        "none"},
       {"client-timeout", text_value("TIME", "30s"), "an idle client is disconnected after TIME"},
       {"client-buffer", text_value("BYTES", "4MiB"), "maximum waiting for a client"},
       {"once", po::bool_switch(),
        "end when everything has been sent (default: wait for the next clients and start again)"}});
}

[[noreturn]] void refuse(const char* option, const std::string& value, const std::string& known) {
  throw UserError("--" + std::string(option) + " " + value + " is not known; use " + known);
}

/// Returns whether the option has the second of two values.
bool is_second(const po::variables_map& values, const char* option, const std::string& first,
               const std::string& second) {
  const auto& value = values[option].as<std::string>();
  if (value != first && value != second) refuse(option, value, first + " and " + second);
  return value == second;
}

std::chrono::nanoseconds time_option(const po::variables_map& values, const char* option) {
  constexpr std::uint64_t kMillisecond = 1'000'000'000;
  constexpr std::uint64_t kDay = 86400 * std::uint64_t{1'000'000'000'000};
  const auto& text = values[option].as<std::string>();
  const auto ps = parsed(option, [&] { return parse_picoseconds(text); });
  if (ps < kMillisecond || ps > kDay)
    throw UserError("--" + std::string(option) + " must be from 1ms to a day, not '" + text + "'");
  return std::chrono::nanoseconds(ps / 1000);
}

/// Parses a number such as "0" or "0.5" or "1e6".
double number_option(const po::variables_map& values, const char* option) {
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e9;
  const auto& text = values[option].as<std::string>();
  const auto decimal = parse_decimal(text);
  if (!decimal)
    throw UserError("--" + std::string(option) + ": '" + text + "' is not a number such as 1000, 0.5 or 1e6");
  const double value = static_cast<double>(decimal->digits) * std::pow(10.0, decimal->exponent);
  if (value != 0 && !(value >= kLeast && value <= kMost)) {
    throw UserError("--" + std::string(option) + " must be 0 or from 0.0001 to 1e9, not '" + text + "'");
  }
  return value;
}

MbsLayout layout_of(const po::variables_map& values, bool by_request) {
  constexpr std::uint64_t kSmallest = 256;
  constexpr std::uint64_t kLargest = std::uint64_t{16} << 20;
  MbsLayout layout;
  layout.native = is_second(values, "buffers", "variable", "native");
  layout.big_endian = is_second(values, "byte-order", "little", "big");
  layout.buffer_bytes = static_cast<std::uint32_t>(bytes_option(values, "buffer-size", kSmallest, kLargest));
  if (layout.buffer_bytes % 4 != 0) throw UserError("--buffer-size must be a multiple of 4 bytes");
  layout.buffers_per_stream = static_cast<std::uint32_t>(count_option(values, "stream-buffers", 1, 64));
  layout.full_streams = by_request;
  return layout;
}

MbsPace pace_of(const po::variables_map& values) {
  const MbsPace pace{.rate = number_option(values, "rate"), .speed = number_option(values, "speed")};
  if (pace.rate > 0 && pace.speed > 0) throw UserError("--rate and --speed exclude each other; omit one");
  return pace;
}

MbsClientsSettings clients_of(const po::variables_map& values) {
  MbsClientsSettings settings;
  settings.by_request = is_second(values, "protocol", "transport", "stream");
  settings.drops = settings.by_request;
  settings.address = values["address"].as<std::string>();
  settings.port = settings.by_request ? kStreamPort : kTransportPort;
  if (!values["port"].as<std::string>().empty()) {
    settings.port =
        static_cast<std::uint16_t>(count_option(values, "port", 0, std::numeric_limits<std::uint16_t>::max()));
  }
  settings.timeout = time_option(values, "client-timeout");
  settings.client_bytes = bytes_option(values, "client-buffer", 1, std::uint64_t{1} << 30);
  return settings;
}

MbsServerSettings settings_of(const po::variables_map& values) {
  MbsServerSettings settings;
  settings.clients = clients_of(values);
  settings.layout = layout_of(values, settings.clients.by_request);
  settings.pace = pace_of(values);
  settings.flush_after = time_option(values, "flush-after");
  settings.clients_to_start = static_cast<std::size_t>(count_option(values, "clients", 1, 64));
  settings.once = values["once"].as<bool>();
  return settings;
}

std::vector<PlayedFile> files_of(const po::variables_map& values) {
  if (values.count("file") == 0) throw UserError("no file given; see 'eventloom serve --help'");
  return expand_played(values["file"].as<std::vector<std::string>>());
}

void print_summary(const MbsServerTotals& totals, const MbsClientsTotals& clients, std::uint64_t damaged_places) {
  const auto& sent = clients.sent;
  std::cout << "read " << totals.events << " events of " << totals.event_bytes << " bytes, packed into "
            << totals.buffers << " buffers\nsent " << sent.events << " events in " << sent.buffers << " buffers, "
            << sent.bytes << " bytes, to " << clients.clients << " clients\ndropped " << sent.dropped_events
            << " events in " << sent.dropped_buffers << " buffers for slow clients\ndisconnected " << clients.timed_out
            << " idle clients, " << clients.refused << " with invalid requests\nskipped " << damaged_places
            << " damaged places and " << totals.too_large << " events too large for buffers\n";
  if (totals.time_jumps != 0)
    std::cout << "times stepped back or ahead by more than an hour " << totals.time_jumps << " times\n";
  if (clients.never != 0) std::cout << "closed before they were clients: " << clients.never << " connections\n";
  if (clients.lost_events != 0 || clients.unread != 0) {
    std::cout << "lost " << clients.lost_events << " events that no client could read; " << clients.unread
              << " clients left data unread that no other client was sent\n";
  }
  std::cout << std::flush;
}

bool sent_to_all(const MbsClientsTotals& clients) {
  return clients.sent.dropped_events == 0 && clients.timed_out == 0 && clients.lost_events == 0 && clients.unread == 0;
}

}  // namespace

int serve_command(int argc, const char* const* argv) {
  CommandLine line(
      "serve",
      "serve FILE... [options]\nSends recorded events to MBS clients, as an MBS transport or stream server: those of "
      "LMD files as they are, others as LMD events like those of 'merge --to lmd:'; of a free-running .epochs file the "
      "hits of each epoch are an event.\nExit code 3 when files are damaged, or clients could not be sent all.");
  add_serve_options(line.options());
  line.positional("file", -1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  const auto settings = settings_of(*values);
  MbsRecording recording(files_of(*values), count_option(*values, "loop", 1, 1'000'000'000));
  if (const auto* file = recording.untimed(); file != nullptr && settings.pace.speed > 0) {
    throw UserError("--speed: the times of '" + file->path() +
                    "' are event numbers; name the source of its times if it has any (lmd:FILE?time=wr), or use --rate "
                    "N events per second");
  }
  catch_stop_signals();
  MbsServer server(settings, recording);
  std::cout << "serving " << (settings.clients.by_request ? "stream" : "transport") << " on " << server.address()
            << std::endl;
  server.run();
  print_summary(server.totals(), server.clients(), recording.damaged_places());
  const bool whole = recording.damaged_places() == 0 && server.totals().too_large == 0 && sent_to_all(server.clients());
  return whole ? kExitOk : kExitLosses;
}

}  // namespace eventloom
