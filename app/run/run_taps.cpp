#include "app/run/run_taps.hpp"

#include <limits>
#include <string>
#include <utility>

#include "app/document/json_message.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/log.hpp"
#include "io/event_files/event_target.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostTapClients = 8;
constexpr std::size_t kTapQueueBytes = std::size_t{16} << 20;  ///< maximum per client
constexpr std::size_t kReportedTaps = 16;

MbsClientsSettings settings_of(const TapOption& option, std::uint32_t writer) {
  MbsClientsSettings settings;
  settings.name = "tap: ";
  settings.advice = "choose another address or port for --tap, whose writer number N takes PORT + N";
  settings.address = option.place.address;
  settings.port = static_cast<std::uint16_t>(option.place.port == 0 ? 0 : option.place.port + writer);
  settings.by_request = option.by_request;
  settings.drops = true;
  settings.client_bytes = kTapQueueBytes;
  settings.most = kMostTapClients;
  return settings;
}

void require_ports(const TapOption& option, std::uint32_t writers) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint16_t>::max();
  if (option.place.port == 0 || writers - 1 <= kLast - option.place.port) return;
  throw UserError(
      fmt::format("--tap: {} writers take the ports from {} to {}, and the last port is {}; choose a lower one",
                  writers, option.place.port, option.place.port + std::uint64_t{writers} - 1, kLast));
}

/// Returns the address as a client would write it, and the host if the address does not contain it.
std::string place_of(const std::string& address, const std::string& host, bool by_request) {
  const auto port = address.substr(address.rfind(':'));
  const bool anywhere = address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  return "mbs://" + (anywhere ? host + port : address) + (by_request ? "/stream" : "/transport") +
         (anywhere ? "" : " on " + host);
}

void report_places(const std::map<std::uint32_t, std::string>& places) {
  std::string text;
  std::size_t reported = 0;
  for (const auto& [writer, place] : places) {
    if (reported++ == kReportedTaps) break;
    text += (text.empty() ? "" : ", ") + place;
  }
  if (places.size() > kReportedTaps) text += fmt::format(" and {} more", places.size() - kReportedTaps);
  log::info("tap: events are served at {}", text);
}

}  // namespace

RunTaps::RunTaps(const TapOption& option, const EventFileRun& run, const Roles& roles, const Collective& ranks) {
  std::map<std::uint32_t, std::string> mine;
  agree(ranks, [&] {
    require_ports(option, roles.writers());
    for (std::uint32_t writer = 0; writer < roles.writers(); ++writer) {
      if (roles.rank_of_writer(writer) != ranks.rank()) continue;
      auto tap = std::make_unique<EventTap>(settings_of(option, writer), make_lmd_events(run));
      mine[writer] = place_of(tap->address(), host_name(), option.by_request);
      taps_[writer] = std::move(tap);
    }
  });
  std::map<std::uint32_t, std::string> places;
  for (const auto& of_rank : all_gather_json(ranks, mine)) {
    places.merge(of_rank.get<std::map<std::uint32_t, std::string>>());
  }
  if (ranks.rank() == 0) report_places(places);
}

EventTap* RunTaps::of(std::uint32_t writer) const {
  const auto found = taps_.find(writer);
  return found == taps_.end() ? nullptr : found->second.get();
}

void RunTaps::turn(SteadyTime) {
  for (const auto& [writer, tap] : taps_) tap->turn();
}

void RunTaps::end() {
  for (const auto& [writer, tap] : taps_) tap->end();
}

void RunTaps::join() {
  const Activity activity("sending the last events to the clients of --tap");
  for (const auto& [writer, tap] : taps_) tap->join();
}

void RunTaps::add_to(Counters& counters) const {
  for (const auto& [writer, tap] : taps_) tap->add_to(counters);
}

}  // namespace eventloom
