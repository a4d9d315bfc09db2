#include "app/run/live_pasts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "app/document/json_message.hpp"
#include "core/dataflow/live_stream.hpp"
#include "core/runtime/error.hpp"
#include "io/run_output/live_place.hpp"

namespace eventloom {

namespace {

using LivePasts = std::map<std::uint32_t, LivePast>;

std::filesystem::path place_of(const RunConfig& config, std::uint32_t source) {
  const std::filesystem::path output(config.output);
  return output.parent_path() / live_place_name(output, source);
}

/// Of several definitions that which has finished the least: what is lost is said of all.
LivePast past_of(std::uint32_t source, const SliceGeometry& geometry, const std::vector<Resumption>& resumptions) {
  LivePast past;
  past.hits = std::numeric_limits<std::uint64_t>::max();
  for (const auto& resumption : resumptions) {
    const auto& finished = resumption.finished;
    const auto found = resumption.totals.live_hits.find(source);
    past.hits = std::min(past.hits, found == resumption.totals.live_hits.end() ? 0 : found->second);
    past.end = std::max(past.end, geometry.owned_epochs(finished.end()).begin);
    const auto slices = finished.end().value - finished.frontier().value - finished.size_beyond();
    past.epochs_missing = std::max(past.epochs_missing, slices * geometry.epochs_per_slice);
  }
  return past;
}

/// Rank 0 alone.
LivePasts pasts_of(const RunConfig& config, const RunSetup& setup, const std::vector<Resumption>& resumptions) {
  LivePasts pasts;
  for (std::uint32_t s = 0; s < setup.streams.size(); ++s) {
    if (!setup.streams[s].live) continue;
    auto past = past_of(s, setup.run.geometry, resumptions);
    past.place = read_live_place(place_of(config, s));
    pasts.emplace(s, past);
  }
  return pasts;
}

nlohmann::json to_json(const LivePasts& pasts) {
  auto json = nlohmann::json::array();
  for (const auto& [source, past] : pasts) {
    json.push_back({source, past.hits, past.end, past.epochs_missing, past.place.has_value(),
                    past.place.value_or(PeerPlace{}).session, past.place.value_or(PeerPlace{}).base});
  }
  return json;
}

LivePasts pasts_from_json(const nlohmann::json& json) {
  LivePasts pasts;
  for (const auto& one : json) {
    LivePast past{std::nullopt, one.at(1), one.at(2), one.at(3)};
    if (one.at(4).get<bool>()) past.place = PeerPlace{one.at(5), one.at(6)};
    pasts.emplace(one.at(0).get<std::uint32_t>(), past);
  }
  return pasts;
}

/// A resumed run can do without: it then says that the loss is unknown.
void keep_place(const std::filesystem::path& file, const PeerPlace& place) {
  try {
    write_live_place(file, place);
  } catch (const UserError& error) {
    spdlog::warn("{}; if the run is resumed, it cannot say how many hits are lost", error.what());
  }
}

}  // namespace

void prepare_live_sources(const RunConfig& config, RunSetup& setup, const std::vector<Resumption>& resumptions,
                          const Collective& ranks) {
  if (!setup.live) return;
  LivePasts pasts;
  if (any_resumes(resumptions)) {
    auto mine = nlohmann::json::array();
    if (ranks.rank() == 0) mine = to_json(pasts_of(config, setup, resumptions));
    pasts = pasts_from_json(broadcast_json(ranks, mine));
  }
  for (auto& source : setup.local) {
    if (source.live == nullptr) continue;
    const auto past = pasts.find(source.id.value);
    if (past != pasts.end()) source.live->resume_after(past->second);
    source.live->keep_place(
        [file = place_of(config, source.id.value)](const PeerPlace& place) { keep_place(file, place); });
  }
}

}  // namespace eventloom
