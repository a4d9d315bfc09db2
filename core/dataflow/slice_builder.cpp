#include "core/dataflow/slice_builder.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/event_search.hpp"
#include "core/dataflow/hit_correction.hpp"
#include "core/dataflow/hit_histograms.hpp"
#include "core/dataflow/hit_thinning.hpp"
#include "core/dataflow/live_hits.hpp"
#include "core/dataflow/removed_hits.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/detector/channel_use.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"

namespace eventloom {

namespace {

void require_short_stretch(const SliceBuilderSettings& settings) {
  if (settings.geometry.epochs_per_slice == 0)
    throw UserError(name_of(Setting::epochs_per_slice) + " must be at least 1");
  Tick apart = 0;
  for (const auto& span : stream_offsets(*settings.detector, settings.sorted.has_value(), settings.payload.size())) {
    apart = std::max(apart, span.width());
  }
  if (fits_a_builder(settings.geometry, apart)) return;
  throw UserError(
      "a slice with its overlap and the reach of its event definition is longer than 2^36 ticks: choose smaller " +
      name_of(Setting::epochs_per_slice) + ", " + name_of(Setting::overlap) + ", " + name_of(Setting::define) +
      " lengths or " + name_of(Setting::detector) + " offsets");
}

/// Selects the damage that the slice accounts for: damage that begins in it.
void collect_damage(std::span<const SourceDamage> damage, EpochRange owned, std::vector<SourceDamage>& out) {
  out.clear();
  for (const auto& item : damage) {
    if (owned.contains(item.damage.first_epoch)) out.push_back(item);
  }
  for (auto& item : out) item.damage.origin = item.source.value;
}

bool any_event(const SliceBuilderSettings& settings, bool DefinitionTraits::*trait) {
  return std::ranges::any_of(settings.events,
                             [trait](const WantedEvents& wanted) { return wanted.definition->traits().*trait; });
}

void add_losses(std::span<const BuildProblem> problems, BuiltSlice& out) {
  for (const auto& problem : problems) {
    out.losses.push_back({problem.source.value, problem.damage.cause, problem.damage.n_hits});
  }
}

}  // namespace

struct SliceBuilder::Work {
  explicit Work(SliceBuilderSettings given)
      : settings(std::move(given)),
        decoder(settings),
        use(*settings.detector),
        removed(settings.detector->sources(), any_event(settings, &DefinitionTraits::needs_numbers)),
        encoder(settings.geometry.base.epoch_ticks, std::max<Tick>(settings.save_bin_ticks, 1)) {
    for (const auto& wanted : settings.events) searches.emplace_back(settings, wanted);
    if (settings.detector->corrects()) correction.emplace(settings);
    if (HitThinning::is_needed(settings)) thinning.emplace(settings);
    if (any_event(settings, &DefinitionTraits::needs_positions)) unplaced.emplace(settings.detector);
    if (settings.histograms) histograms.emplace(settings.histograms, settings.with_payload);
  }

  /// The hits that the builder sees, in the order of the run, without those that are removed.
  std::span<const HitKey> remaining_hits(const SliceBounds& bounds, Epoch n_epochs,
                                         std::vector<BuildProblem>& problems) {
    removed.restart(bounds);
    const auto keys = sort_hits(bounds, n_epochs, problems);
    return thinning ? thinning->thin(decoder.hits(), keys, bounds, removed) : keys;
  }

  /// Number of the slice's hits among them.
  [[nodiscard]] std::uint64_t n_remaining(const SliceBounds& bounds) const {
    const auto n =
        correction ? correction->kept_in_slice() : decoder.hits().count(bounds.slice_begin, bounds.slice_end);
    return thinning ? n - thinning->n_removed() : n;
  }

  std::span<const HitKey> sort_hits(const SliceBounds& bounds, Epoch n_epochs, std::vector<BuildProblem>& problems) {
    const std::uint32_t epoch_ticks = settings.geometry.base.epoch_ticks;
    if (!correction) return time_sort.sort(decoder.hits(), n_epochs, epoch_ticks);
    const Tick n_ticks = tick_of_epoch(n_epochs, epoch_ticks);
    const auto kept = correction->correct(decoder.hits(), bounds, n_ticks, removed, problems);
    const auto sorted = time_sort.sort(kept, n_ticks);
    return settings.sorted ? correction->order_equal_times(decoder.hits(), sorted) : sorted;
  }

  /// Saves all hits of the slice, with the first kind of events as tags. Hits are saved as received: another definition
  /// may use hits that are excluded from events by number.
  void keep(const SliceHits& slice, EpochRange owned, SortedSlice& out) {
    auto& search = searches.front();
    if (search.matches_numbers()) search.find(slice);
    encoder.encode(decoder.hits(), slice.keys, search.runs(), slice.bounds, settings.with_payload, out.buffers);
    collect_damage(decoder.damage(), owned, out.damage);
  }

  /// Records the channels of all hits that the builder sees, including those around the slice.
  void note_use() {
    if (settings.detector->selections().empty()) return;
    const auto& hits = decoder.hits();
    const std::span channels(hits.channel.data(), hits.size);
    if (settings.sorted) return use.see(std::span(hits.source.data(), hits.size), channels);
    for (std::size_t s = 0; s < hits.sources.size(); ++s) {
      const auto& of = hits.sources[s];
      use.see(static_cast<std::uint16_t>(s), channels.subspan(of.begin, of.end - of.begin));
    }
  }

  const SliceBuilderSettings settings;
  SliceDecoder decoder;
  ChannelUse use;
  TimeSort time_sort;
  std::vector<EventSearch> searches;  ///< one per kind of events
  RemovedHits removed;
  std::optional<HitCorrection> correction;  ///< only if the detector changes hits
  std::optional<HitThinning> thinning;      ///< only if hits are removed by their times
  std::optional<UnplacedCounter> unplaced;  ///< only if positions matter
  HitSpans spans;
  std::optional<HitHistograms> histograms;
  SortedSliceEncoder encoder;
};

SliceBuilder::SliceBuilder(SliceBuilderSettings settings) {
  settings.geometry = widest(settings.geometry, settings.events);
  require_short_stretch(settings);
  work_ = std::make_unique<Work>(std::move(settings));
}
SliceBuilder::~SliceBuilder() = default;
SliceBuilder::SliceBuilder(SliceBuilder&&) noexcept = default;

void SliceBuilder::add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const {
  use.add(work_->use.bits());
  if (work_->unplaced) work_->unplaced->add_to(unplaced);
  for (const auto& [source, span] : work_->spans) add_span(spans, source, span);
}

void SliceBuilder::build(SliceId slice, std::span<const SourceSlice> sources, std::vector<BuiltSlice>& out,
                         std::vector<BuildProblem>& problems, SortedSlice* sorted) {
  auto& work = *work_;
  const auto& geometry = work.settings.geometry;
  const auto sent = geometry.sent_epochs(slice);
  const auto owned = geometry.owned_ticks(slice);
  const Tick start = tick_of_epoch(sent.begin, geometry.base.epoch_ticks);
  const SliceBounds bounds{start, owned.begin - start, owned.end - start, geometry.overlap};

  const std::size_t before = problems.size();
  work.decoder.decode(slice, sources, problems);
  work.note_use();
  add_spans(work.spans, work.decoder.hits(), geometry.base.epoch_ticks);
  const auto keys = work.remaining_hits(bounds, sent.end - sent.begin, problems);
  if (work.unplaced) work.unplaced->count(work.decoder.hits(), keys, bounds);
  const bool removes = work.correction || work.thinning;
  const SliceHits hits{work.decoder.hits(),     keys, bounds, work.decoder.damage(), removes ? &work.removed : nullptr,
                       work.n_remaining(bounds)};
  const std::size_t common = problems.size();
  const auto live_hits = count_live_hits(hits, geometry.owned_epochs(slice), work.settings.live);
  const auto filled = work.histograms ? work.histograms->fill(hits) : std::span<const FilledCell>();
  out.resize(work.searches.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t begin = problems.size();
    work.searches[i].build(hits, slice, out[i], problems);
    add_losses(std::span(problems).first(common).subspan(before), out[i]);
    add_losses(std::span(problems).subspan(begin), out[i]);
    out[i].live_hits = live_hits;
    out[i].filled.assign(filled.begin(), filled.end());
    out[i].left_out = work.decoder.left_out();
  }
  if (sorted != nullptr) work.keep(hits, geometry.owned_epochs(slice), *sorted);
}

}  // namespace eventloom
