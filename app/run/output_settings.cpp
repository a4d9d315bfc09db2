#include "app/run/output_settings.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "app/command/options.hpp"
#include "app/command/utf8.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/text_error.hpp"
#include "io/udp/udp_address.hpp"
#include "io/udp/udp_sender.hpp"

namespace eventloom {

namespace {

constexpr const char* kNameRule = "a name is up to 32 letters, digits and underscores, beginning with a letter";

bool is_name(const std::string& text) {
  constexpr std::size_t kLongest = 32;
  const auto good = [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); };
  return !text.empty() && text.size() <= kLongest && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         text.front() != '_' && std::ranges::all_of(text, good);
}

/// Parses `NAME=DEF` or `DEF`; the first word of DEF ends with a colon.
DefineOption parse(const std::string& given) {
  const auto equals = given.find('=');
  if (equals == std::string::npos || given.find(':') < equals) return {{}, given};
  DefineOption option{given.substr(0, equals), given.substr(equals + 1)};
  if (!is_name(option.name))
    throw TextError("--define '" + shortened(given) + "': " +
                        (equals == 0 ? "the name before = is missing" : "'" + shortened(option.name) + "' is no name") +
                        "; " + kNameRule,
                    marked(given, std::string_view(given).substr(0, equals)));
  return option;
}

std::string file_of(const std::filesystem::path& output, const std::string& name) {
  // Otherwise the name would be taken for the extension, which names of parts omit.
  const auto extension = output.has_extension() ? output.extension().string() : ".h5";
  const auto file = output.stem().string() + "." + name + extension;
  return (output.parent_path() / file).string();
}

void refuse_many(const std::string& address, const UdpAddress& resolved) {
  const bool v6 = resolved.address.ss_family == AF_INET6;
  const auto v4_host = ntohl(reinterpret_cast<const sockaddr_in&>(resolved.address).sin_addr.s_addr);
  const bool is_multicast =
      v6 ? IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6&>(resolved.address).sin6_addr)
         : IN_MULTICAST(v4_host);
  if (!is_multicast && (v6 || v4_host != INADDR_BROADCAST)) return;
  throw UserError("--reply: '" + address + "' is a multicast or broadcast address; give the address of each board");
}

/// Throws UserError unless the address is that of one board that this host can send to.
void require_board(const std::string& address) {
  if (!address.starts_with("udp:")) {
    throw UserError("--reply: '" + shortened(address) + "' is not udp://HOST:PORT, such as udp://192.168.1.17:7000");
  }
  try {
    const auto resolved = resolve_udp(address);
    refuse_many(address, resolved);
    if (resolved.text.ends_with(":0")) throw UserError("'" + address + "' has no port; give the one of the board");
    UdpSender(address, 0, WhenFull::drop);
  } catch (const UserError& e) {
    const std::string what = e.what();
    throw UserError(what.starts_with("--reply: ") ? what : "--reply: " + what);
  }
}

}  // namespace

std::vector<DefinitionOutput> parse_define_options(const std::vector<std::string>& given, const std::string& output) {
  std::vector<DefinitionOutput> all;
  for (const auto& text : given) {
    auto option = parse(text);
    if (option.name.empty() && given.size() > 1) {
      throw UserError("--define '" + shortened(text) +
                      "': of several definitions each needs a name, as in --define muon=" + shortened(text));
    }
    const auto same = std::ranges::find(all, option.name, [](const DefinitionOutput& of) { return of.define.name; });
    if (same != all.end()) {
      throw TextError("--define '" + shortened(text) + "': the name '" + option.name + "' is taken by '" +
                          shortened(same->define.given()) + "'",
                      marked(text, std::string_view(text).substr(0, option.name.size())));
    }
    auto file = option.name.empty() ? output : file_of(output, option.name);
    all.push_back({std::move(option), std::move(file)});
  }
  return all;
}

const std::string& utf8_name(const std::string& name, const char* option) {
  if (!is_utf8(name)) {
    throw UserError("--" + std::string(option) + ": '" + name + "' is not UTF-8; choose another name");
  }
  return name;
}

void add_also_option(const std::string& text, OutputSettings& output) {
  const auto target = parse_event_target(utf8_name(text, "also"), "--also");
  for (const auto& other : output.runs.front().also) {
    if (other.target.hld != target.hld) continue;
    throw UserError("--also '" + text + "': '" + other.given +
                    "' writes files of this format already; omit one of them");
  }
  for (auto& run : output.runs) {
    run.also.push_back({text, target});
    if (!run.define.name.empty()) run.also.back().target.stem += "." + run.define.name;
  }
}

std::string how_to_continue(bool is_series, bool drops_sorted) {
  if (is_series) return "'eventloom merge --partial' saves what is finished, and the same command begins the next run";
  return std::string("the same command with --resume ") + (drops_sorted ? "and without --save-sorted " : "") +
         "continues the run";
}

ReplyOption parse_reply_option(const std::string& text, std::size_t datagram_bytes) {
  ReplyOption option{words_of(text), datagram_bytes};
  for (auto address = option.addresses.begin(); address != option.addresses.end(); ++address) {
    require_board(*address);
    if (std::find(option.addresses.begin(), address, *address) == address) continue;
    throw UserError("--reply: '" + *address + "' is given twice; each address receives every event");
  }
  return option;
}

TapOption parse_tap_option(const std::string& text) {
  constexpr std::string_view kScheme = "mbs://";
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  const auto slash = rest.find('/');
  const auto service = slash == rest.npos ? "stream" : rest.substr(slash + 1);
  const auto place = parse_listen_place(rest.substr(0, slash));
  if (!place || (service != "stream" && service != "transport")) {
    throw UserError("--tap: '" + text +
                    "' is not [mbs://][ADDR:]PORT[/stream|/transport], such as 6002 or 0.0.0.0:6000/transport");
  }
  return {*place, service == "stream"};
}

}  // namespace eventloom
