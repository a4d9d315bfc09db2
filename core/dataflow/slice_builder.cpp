#include "core/dataflow/slice_builder.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/dataflow/collect_events.hpp"
#include "core/dataflow/damage_account.hpp"
#include "core/dataflow/decode.hpp"
#include "core/dataflow/hit_correction.hpp"
#include "core/dataflow/number_match.hpp"
#include "core/dataflow/tagged_events.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Ticks of a stream seen by a builder are counted in 32 bits.
void require_short_stretch(const SliceBuilderSettings& settings) {
  const auto& geometry = settings.geometry;
  constexpr std::uint64_t kLimit = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t epoch = geometry.base.epoch_ticks;
  const std::uint64_t epochs = kLimit / epoch;
  Tick apart = 0;
  for (const auto& span : stream_offsets(*settings.detector, settings.sorted.has_value(), settings.payload.size())) {
    apart = std::max(apart, span.width());
  }
  const std::uint64_t margin = std::max(geometry.margin(), apart) / epoch + 1;
  if (geometry.epochs_per_slice == 0) throw UserError("--epochs-per-slice must be at least 1");
  if (geometry.epochs_per_slice > epochs || margin > epochs ||
      geometry.epochs_per_slice + 2 * margin + apart / epoch > epochs) {
    throw UserError("a slice with its overlap and the reach of its event definition is longer than " +
                    std::to_string(kLimit) +
                    " ticks: choose smaller --epochs-per-slice, --overlap, --define lengths or --detector offsets");
  }
}

/// The damage that the slice accounts for: that which begins in it.
void collect_damage(std::span<const SourceDamage> damage, EpochRange owned, std::vector<SourceDamage>& out) {
  out.clear();
  for (const auto& item : damage) {
    if (owned.contains(item.damage.first_epoch)) out.push_back(item);
  }
  for (auto& item : out) item.damage.origin = item.source.value;
}

}  // namespace

struct SliceBuilder::Work {
  explicit Work(SliceBuilderSettings given)
      : settings(std::move(given)),
        traits(settings.definition->traits()),
        decoder(settings),
        encoder(settings.geometry.base.epoch_ticks, std::max<Tick>(settings.save_bin_ticks, 1)) {
    if (traits.needs_numbers) match.emplace(settings.stream_flags, settings.with_payload);
    if (settings.detector->corrects()) correction.emplace(settings);
  }

  /// The hits that the builder sees, in the order of the run.
  std::span<const HitKey> sort_hits(const SliceBounds& bounds, std::uint64_t n_epochs,
                                    std::vector<BuildProblem>& problems) {
    const std::uint32_t epoch_ticks = settings.geometry.base.epoch_ticks;
    if (!correction) return time_sort.sort(decoder.hits(), n_epochs, epoch_ticks);
    const auto n_ticks = static_cast<std::uint32_t>(n_epochs * epoch_ticks);
    const auto kept = correction->correct(decoder.hits(), bounds, n_ticks, problems);
    const auto sorted = time_sort.sort(kept, n_ticks);
    return settings.sorted ? correction->order_equal_times(decoder.hits(), sorted) : sorted;
  }

  void find_events(std::span<const HitKey> keys, const SliceBounds& bounds) {
    const bool use_tags = settings.sorted && settings.sorted->use_tags;
    if (use_tags && take_tagged_events(decoder.hits(), keys, bounds, events)) return;
    SortedHits sorted{bounds.start, keys};
    if (traits.needs_channels) {
      sorted.channel = {decoder.hits().channel.data(), decoder.hits().size};
      sorted.source = {decoder.hits().source.data(), decoder.hits().size};
    }
    events.restart(keys, bounds);
    settings.definition->find(sorted, events);
  }

  void keep(std::span<const HitKey> keys, const SliceBounds& bounds, SortedSlice& out) {
    const auto tagged = traits.finds_runs ? events.events() : std::span<const EventRange>();
    encoder.encode(decoder.hits(), keys, tagged, bounds, settings.with_payload, out.buffers);
  }

  const SliceBuilderSettings settings;
  const DefinitionTraits traits;
  SliceDecoder decoder;
  TimeSort time_sort;
  EventList events;
  EventCollector collector;
  std::optional<NumberMatch> match;         ///< for events built by number
  std::optional<HitCorrection> correction;  ///< where a detector changes hits
  SortedSliceEncoder encoder;
};

SliceBuilder::SliceBuilder(SliceBuilderSettings settings) {
  settings.geometry.reach = settings.definition->traits().reach;
  require_short_stretch(settings);
  work_ = std::make_unique<Work>(std::move(settings));
}
SliceBuilder::~SliceBuilder() = default;
SliceBuilder::SliceBuilder(SliceBuilder&&) noexcept = default;

void SliceBuilder::build(SliceId slice, std::span<const SourceSlice> sources, BuiltSlice& out,
                         std::vector<BuildProblem>& problems, SortedSlice* sorted) {
  const auto& geometry = work_->settings.geometry;
  const auto sent = geometry.sent_epochs(slice);
  const auto owned = geometry.owned_ticks(slice);
  const Tick start = sent.begin * geometry.base.epoch_ticks;
  const SliceBounds bounds{start, owned.begin - start, owned.end - start, geometry.overlap};

  work_->decoder.decode(slice, sources, problems);
  const DecodedHits& hits = work_->decoder.hits();
  auto keys = work_->sort_hits(bounds, sent.end - sent.begin, problems);
  out.ledger = {.slice = slice.value};
  out.losses.clear();
  if (work_->match) {
    // Saved hits are those received: another definition may use hits that matching removes.
    if (sorted != nullptr) {
      work_->find_events(keys, bounds);
      work_->keep(keys, bounds, *sorted);
    }
    keys = work_->match->same_trigger(hits, keys, bounds, out, problems);
  }
  work_->find_events(keys, bounds);
  work_->collector.collect(hits, keys, work_->events, bounds, work_->settings.with_payload, out);
  const std::uint64_t out_of_step = out.ledger.dropped();  // decoded, and therefore counted there
  account_for_damage(work_->decoder.damage(), geometry, out);
  if (work_->correction) work_->correction->account(out);
  if (work_->match) {
    const auto taken_out = work_->correction ? work_->correction->taken_out() : std::span<const TakenOut>();
    work_->match->flag_missing(hits, work_->events, taken_out, out);
  }
  const std::uint64_t decoded = work_->correction ? work_->correction->kept_in_slice()
                                                  : hits.count(static_cast<std::uint32_t>(bounds.slice_begin),
                                                               static_cast<std::uint32_t>(bounds.slice_end));
  out.ledger.hits_in = decoded + out.ledger.dropped() - out_of_step;
  if (sorted == nullptr) return;
  if (!work_->match) work_->keep(keys, bounds, *sorted);
  collect_damage(work_->decoder.damage(), geometry.owned_epochs(slice), sorted->damage);
}

}  // namespace eventloom
