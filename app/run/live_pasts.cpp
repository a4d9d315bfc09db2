#include "app/run/live_pasts.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/run_output/live_place.hpp"

namespace eventloom {

namespace {

std::filesystem::path place_of(const std::filesystem::path& output, std::uint32_t source) {
  return output.parent_path() / live_place_name(output, source);
}

/// The definition that has finished the least determines the reported loss.
LivePast past_of(std::uint32_t source, const SliceGeometry& geometry, const std::vector<Resumption>& resumptions) {
  LivePast past;
  past.hits = std::numeric_limits<std::uint64_t>::max();
  for (const auto& resumption : resumptions) {
    const auto& finished = resumption.finished;
    const auto found = resumption.totals.live_hits.find(source);
    past.hits = std::min(past.hits, found == resumption.totals.live_hits.end() ? 0 : found->second);
    past.end = std::max(past.end, geometry.owned_epochs(finished.end()).begin);
    const auto slices = finished.end().value - finished.frontier().value - finished.size_beyond();
    past.epochs_missing = std::max(past.epochs_missing, Epoch(slices * geometry.epochs_per_slice));
  }
  return past;
}

/// Rank 0 only. Indexed by stream; those of recordings, followed or not, are unused.
std::vector<LivePast> pasts_of(const std::string& output, const RunSetup& setup,
                               const std::vector<Resumption>& resumptions) {
  std::vector<LivePast> pasts(setup.streams.size());
  for (std::uint32_t s = 0; s < pasts.size(); ++s) {
    if (!setup.streams[s].live || setup.streams[s].followed) continue;
    pasts[s] = past_of(s, setup.run.geometry, resumptions);
    pasts[s].place = read_live_place(place_of(output, s));
  }
  return pasts;
}

/// Failure is not an error: a resumed run then reports the loss as unknown.
void keep_place(const std::filesystem::path& file, const PeerPlace& place) {
  try {
    write_live_place(file, place);
  } catch (const UserError& error) {
    log::warn("{}; if the run is resumed, it cannot say how many hits are lost", error.what());
  }
}

}  // namespace

void prepare_live_sources(const std::string& output, RunSetup& setup, const std::vector<Resumption>& resumptions,
                          const Collective& ranks) {
  if (!setup.live) return;
  std::vector<LivePast> pasts;
  if (any_resumes(resumptions)) {
    if (ranks.rank() == 0) pasts = pasts_of(output, setup, resumptions);
    pasts = ranks.all_gather(pasts).front();
  }
  for (auto& source : setup.local) {
    if (source.live == nullptr || setup.streams[source.id.value].followed) continue;
    if (!pasts.empty()) source.live->resume_after(pasts[source.id.value]);
    source.live->keep_place(
        [file = place_of(output, source.id.value)](const PeerPlace& place) { keep_place(file, place); });
  }
}

}  // namespace eventloom
