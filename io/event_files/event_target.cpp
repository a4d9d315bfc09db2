#include "io/event_files/event_target.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/units.hpp"
#include "io/event_files/event_items.hpp"
#include "io/event_files/hld_event_maker.hpp"
#include "io/event_files/hld_format.hpp"
#include "io/event_files/lmd_format.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

namespace {

/// Smallest file size, which limits the number of files.
constexpr std::uint64_t kLeastFileBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxBuilder = 99;

constexpr std::array<std::string_view, 3> kLmdKeys = {"size", "begin", "end"};
constexpr std::array<std::string_view, 5> kHldKeys = {"size", "begin", "end", "run", "ebnumber"};

/// The largest trigger type that a header can hold.
constexpr std::uint64_t last_trigger(bool hld) { return hld ? 0xf : 0xffff; }

std::uint64_t size_of_files(const SourceUri& uri) {
  if (!uri.has("size")) return 0;
  try {
    const auto bytes = parse_bytes(uri.get("size", ""));
    if (bytes < kLeastFileBytes) uri.refuse("files have at least 64KiB: size=" + uri.get("size", "") + " is less");
    return bytes;
  } catch (const std::invalid_argument& e) {
    uri.refuse(std::string("size=: ") + e.what());
  }
}

/// Parses a list such as begin=12,14.
std::vector<std::uint32_t> triggers_of(const SourceUri& uri, const char* key, std::uint64_t last) {
  std::vector<std::uint32_t> triggers;
  if (!uri.has(key)) return triggers;
  std::istringstream list(uri.get(key, "") + ',');
  for (std::string number; std::getline(list, number, ',');) {
    try {
      if (const auto trigger = parse_count(number); trigger <= last) {
        triggers.push_back(static_cast<std::uint32_t>(trigger));
        continue;
      }
    } catch (const std::invalid_argument&) {
    }
    uri.refuse(fmt::format("{}=: '{}' is no trigger type, a whole number from 0 to {}; for several give {}=12,14", key,
                           number, last, key));
  }
  return triggers;
}

/// The run number of the HLD sources, if they agree.
std::optional<std::uint32_t> run_of_sources(std::span<const HitOrigin> origins) {
  std::optional<std::uint32_t> run;
  for (const auto& origin : origins) {
    if (origin.kind != HitKind::hld_subevent) continue;
    if (origin.hld.run == 0 || run.value_or(origin.hld.run) != origin.hld.run) return std::nullopt;
    run = origin.hld.run;
  }
  return run;
}

std::uint32_t run_number(std::optional<std::uint32_t> given, const EventFileRun& run,
                         std::span<const HitOrigin> origins) {
  const auto since = run.began_s - kHldRunZero.time_since_epoch().count();
  const auto began =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(since, 0, std::numeric_limits<std::uint32_t>::max()));
  return given.value_or(run_of_sources(origins).value_or(began));
}

std::vector<HitOrigin> origins_of(const EventFileRun& run) {
  std::vector<HitOrigin> origins;
  for (const auto& description : run.descriptions) origins.push_back(hit_origin_of(description));
  return origins;
}

HldEventMaker hld_events(const EventFileRun& run, std::uint32_t number) {
  HldEventMaker events(HldClock{run.numbered ? std::nullopt : run.tick_0_ns, run.tick_ps});
  events.begin_run(number);
  return events;
}

EventSplitter splitter_of(std::vector<HitOrigin> origins, const EventFileRun& run) {
  return {std::move(origins), run.numbered ? 0 : run.tick_ps};
}

}  // namespace

EventTarget parse_event_target(const std::string& text, const std::string& option) {
  const auto uri = SourceUri::parse(text, option);
  const bool hld = uri.scheme() == "hld";
  if (!hld && uri.scheme() != "lmd") uri.refuse("use lmd:PATH or hld:PATH");
  uri.accept_only(hld ? std::span<const std::string_view>(kHldKeys) : kLmdKeys);
  std::filesystem::path path(uri.path());
  if (path.extension() == "." + uri.scheme()) path.replace_extension();
  EventTarget target;
  target.hld = hld;
  target.folder = path.parent_path();
  target.stem = path.filename().string();
  if (target.stem.empty()) uri.refuse("PATH must be the beginning of a file's name, not a folder");
  target.most_bytes = size_of_files(uri);
  target.triggers = {triggers_of(uri, "begin", last_trigger(hld)), triggers_of(uri, "end", last_trigger(hld))};
  if (uri.has("run")) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
    target.run = static_cast<std::uint32_t>(uri.get_count("run", 0, 0, kMax));
  }
  target.builder = static_cast<unsigned>(uri.get_count("ebnumber", 0, 0, kMaxBuilder));
  return target;
}

EventTarget target_of_writer(EventTarget target, std::uint32_t writer, std::uint32_t writers) {
  if (writers == 1) return target;
  if (target.hld) {
    target.builder = std::max(target.builder, 1U) + writer;
  } else {
    target.stem += fmt::format("_w{:02}", writer);
  }
  return target;
}

LmdEventMaker make_lmd_events(const EventFileRun& run) {
  auto origins = origins_of(run);
  const auto hld = hld_events(run, run_number(std::nullopt, run, origins));
  return {splitter_of(std::move(origins), run), hld};
}

std::unique_ptr<EventFormat> make_event_format(const EventTarget& target, const EventFileRun& run) {
  if (!target.hld) return std::make_unique<LmdFormat>(target.stem, make_lmd_events(run));
  auto origins = origins_of(run);
  const auto number = run_number(target.run, run, origins);
  // LMD subevents cannot be written as HLD subevents.
  for (auto& origin : origins) {
    if (origin.kind == HitKind::lmd_subevent) origin.kind = HitKind::plain;
  }
  return std::make_unique<HldFormat>(HldFormat::Names{target.stem, number, target.builder},
                                     splitter_of(std::move(origins), run), hld_events(run, number));
}

}  // namespace eventloom
