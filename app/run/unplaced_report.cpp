#include "app/run/unplaced_report.hpp"

#include <cstddef>
#include <string>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {

namespace {

std::string channels_text(const UnplacedOfSource& of) {
  if (of.low == of.high) return "channel " + channel_text(of.low);
  return fmt::format("channels from {} to {}", channel_text(of.low), channel_text(of.high));
}

}  // namespace

void report_unplaced(const RunSetup& setup, const UnplacedHits& unplaced) {
  constexpr std::size_t kNamed = 3;
  std::uint64_t hits = 0;
  std::size_t n = 0;
  std::string text;
  for (const auto& [source, of] : unplaced) {
    hits += of.hits;
    if (++n > kNamed) continue;
    text += fmt::format("{}{} of source {} ({}), {}", n == 1 ? "" : "; ", of.hits, source,
                        for_terminal(setup.sources.at(source).name), channels_text(of));
  }
  if (n > kNamed) text += fmt::format("; and of {} more sources", n - kNamed);
  log::warn("cluster: {} hit{} no position{}, and thus no neighbours: {}", hits, hits == 1 ? " has" : "s have",
            setup.run.detector->has_positions() ? " in --detector" : " as a pixel", text);
}

Json to_json(const UnplacedHits& unplaced) {
  auto list = Json::array();
  for (const auto& [source, of] : unplaced) {
    list.push_back({{"source", source}, {"hits", of.hits}, {"lowest_channel", of.low}, {"highest_channel", of.high}});
  }
  return list;
}

void add_unplaced(const Json& theirs, UnplacedHits& unplaced) {
  for (const auto& of : theirs) {
    unplaced[of.at("source")].add({of.at("hits"), of.at("lowest_channel"), of.at("highest_channel")});
  }
}

}  // namespace eventloom
