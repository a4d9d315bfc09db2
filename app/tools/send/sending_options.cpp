#include "app/tools/send/sending_options.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "app/command/options.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "formats/units.hpp"
#include "io/registry/expand_uri.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Returns one target per stream.
std::vector<std::string> targets(const po::variables_map& values, std::size_t streams) {
  if (values.count("to") == 0) throw UserError("no destination given; use --to udp://HOST:PORT");
  auto to = values["to"].as<std::vector<std::string>>();
  for (const auto& target : to) {
    if (target.ends_with(":0")) throw UserError("--to: '" + target + "' has no port; use udp://HOST:PORT");
    resolve_udp(target);
  }
  if (to.size() == 1) to.resize(streams, to.front());
  if (to.size() != streams) {
    throw UserError("--to: " + std::to_string(to.size()) + " addresses for " + std::to_string(streams) +
                    " sources; give one for all, or one for each");
  }
  return to;
}

}  // namespace

void add_sending_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"to", list_value("URI"),
        "udp://HOST:PORT, one for all sources or one for each, repeatable; of HLD files trb://HOST:PORT[,PORT...], one "
        "port for each subevent id"},
       {"flush-after", text_value("TIME", "1ms"),
        "idle time after which a source sends a mark, with a unit; no generated hit waits longer"},
       {"datagram", text_value("BYTES", "8192"), "of a datagram, at most; 576 to 65507"},
       {"resend", text_value("BYTES", "64MiB"),
        "size of each source's latest datagrams, kept for resending when the receiver reports a loss; 0: none"},
       {"session", text_value("N"),
        "number that distinguishes this stream from an earlier one of the same source (default: drawn at random)"}});
}

LiveSenderSettings sending_options(const po::variables_map& values, std::size_t streams) {
  constexpr std::uint64_t kNanosecond = 1000;
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  LiveSenderSettings settings;
  settings.to = targets(values, streams);
  const auto& flush = values["flush-after"].as<std::string>();
  const auto ps = parsed("flush-after", [&] { return parse_picoseconds(flush); });
  if (ps < kNanosecond || ps > 10 * kSecond)
    throw UserError("--flush-after must be from 1ns to 10s, not '" + flush + "'");
  settings.flush_after_ns = static_cast<std::int64_t>(ps / kNanosecond);
  const auto bytes = parsed("datagram", [&] { return parse_bytes(values["datagram"].as<std::string>()); });
  settings.datagram_bytes =
      in_range<std::uint64_t>("datagram", bytes, DatagramSender::kLeastDatagram, kMaxDatagramBytes);
  const auto resend = parsed("resend", [&] { return parse_bytes(values["resend"].as<std::string>()); });
  settings.resend_bytes = in_range<std::uint64_t>("resend", resend, 0, std::uint64_t{16} << 30);
  if (values.count("session") != 0) {
    settings.session =
        static_cast<std::uint32_t>(count_option(values, "session", 0, std::numeric_limits<std::uint32_t>::max()));
  }
  return settings;
}

std::vector<std::string> trb_ports(const po::variables_map& values) {
  std::vector<std::string> ports;
  if (values.count("to") == 0) return ports;
  const auto& to = values["to"].as<std::vector<std::string>>();
  const auto is_trb = [](const std::string& target) { return target.starts_with("trb:"); };
  if (std::ranges::none_of(to, is_trb)) return ports;
  if (!std::ranges::all_of(to, is_trb))
    throw UserError("--to: trb:// and udp:// cannot be mixed; send them separately");
  for (const auto& target : to) {
    for (const auto& place : places_of_ports(SourceUri::parse(target))) {
      resolve_udp(place);
      ports.push_back(place.substr(2));
    }
  }
  return ports;
}

std::string trouble_text(const UdpSender::Count& count) {
  std::string text;
  if (count.refused != 0) text += fmt::format(", {} times nobody listened", count.refused);
  if (count.full != 0) text += fmt::format(", {} times the buffer was full", count.full);
  return text;
}

void print_sent(const std::vector<SentStream>& sent, std::ostream& out) {
  for (const auto& stream : sent) {
    const auto& n = stream.count;
    out << fmt::format("{} to {}: {} datagrams, {} buffers, {} hits, {} bytes in {:.3f} s", stream.name, stream.to,
                       n.datagrams, n.buffers, n.hits, n.bytes, stream.seconds);
    if (stream.behind_ns > 0) {
      out << fmt::format(", at most {:.3f} ms behind", static_cast<double>(stream.behind_ns) / 1e6);
    }
    if (n.again != 0) out << fmt::format(", {} datagrams sent again on request", n.again);
    out << trouble_text(n) << '\n';
  }
}

bool asked_to_stop() {
  static bool reported = false;
  const int signal = stop_signal();
  if (signal != 0 && !reported) log::info("{}: ending the streams", signal_name(signal));
  reported = signal != 0;
  return reported;
}

}  // namespace eventloom
