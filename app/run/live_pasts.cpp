#include "app/run/live_pasts.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/files/folder.hpp"
#include "io/run_output/live_place.hpp"

namespace eventloom {

namespace {

std::filesystem::path place_of(const std::filesystem::path& output, std::uint32_t source) {
  return output.parent_path() / live_place_name(output, source);
}

bool is_kept(const SourceInfo& stream) { return stream.live && !stream.followed; }

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
    past.none_finished = past.none_finished || resumption.totals[Metric::slices] == 0;
  }
  return past;
}

/// Rank 0 only.
std::vector<LivePast> pasts_of(const RunSetup& setup, const std::vector<Resumption>& resumptions,
                               const ListeningMarks& marks) {
  std::vector<LivePast> pasts(setup.streams.size());
  for (std::uint32_t s = 0; s < pasts.size(); ++s) {
    if (!is_kept(setup.streams[s])) continue;
    pasts[s] = past_of(s, setup.run.geometry, resumptions);
    pasts[s].place = marks.earlier(s);
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

ListeningMarks::ListeningMarks(std::string output, const RunSetup& expected, bool first_rank, bool continues)
    : output_(std::move(output)), earlier_(expected.streams.size()) {
  if (!first_rank) return;
  std::optional<std::uint32_t> first;
  for (std::uint32_t s = 0; s < earlier_.size(); ++s) {
    if (!is_kept(expected.streams[s])) continue;
    first = first.value_or(s);
    if (!continues || !is_there(place_of(output_, s))) continue;
    any_earlier_ = true;
    earlier_[s] = read_live_place(place_of(output_, s));
  }
  if (first && !is_there(place_of(output_, *first))) make(*first, mark_unheard);
}

ListeningMarks::~ListeningMarks() {
  std::error_code error;
  for (const auto& file : made_) {
    if (begun_ ? is_unheard(file) : !keeps_) std::filesystem::remove(file, error);
  }
}

void ListeningMarks::hear(SourceId source, const PeerPlace& place) {
  const auto file = place_of(output_, source.value);
  if (!heard_.insert(source.value).second || (is_there(file) && !is_unheard(file))) return;
  make(source.value, [&](const auto& path) { write_live_place(path, place); });
}

template <class Write>
void ListeningMarks::make(std::uint32_t source, Write write) {
  const auto file = place_of(output_, source);
  try {
    write(file);
    made_.insert(file);
  } catch (const UserError& error) {
    log::warn("{}; if the run dies before it begins, nothing says so to the next", error.what());
  }
}

std::vector<LivePast> find_live_pasts(const RunSetup& setup, const std::vector<Resumption>& resumptions, bool continues,
                                      const ListeningMarks& marks, const Collective& ranks) {
  std::vector<LivePast> pasts;
  if (!setup.live || !continues) return pasts;
  const bool began = std::ranges::any_of(resumptions, [](const Resumption& r) { return !r.before.began.empty(); });
  if (ranks.rank() == 0 && (began || marks.any_earlier())) pasts = pasts_of(setup, resumptions, marks);
  return ranks.all_gather(pasts).front();
}

void prepare_live_sources(const std::string& output, RunSetup& setup, const std::vector<LivePast>& pasts) {
  for (auto& source : setup.local) {
    if (source.live == nullptr || setup.streams[source.id.value].followed) continue;
    if (!pasts.empty()) source.begin.past = pasts[source.id.value];
    source.begin.keep = [file = place_of(output, source.id.value)](const PeerPlace& place) { keep_place(file, place); };
  }
}

}  // namespace eventloom
