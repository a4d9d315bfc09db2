#include "core/dataflow/slice_builder.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/dataflow/collect_events.hpp"
#include "core/dataflow/decode.hpp"
#include "core/dataflow/define.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Ticks in a window are counted in 32 bits.
void require_short_window(const SliceGeometry& geometry) {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t epoch = geometry.base.epoch_ticks;
  const std::uint64_t epochs = kLimit / epoch;
  const std::uint64_t margin = geometry.margin() / epoch + 1;
  if (geometry.epochs_per_slice == 0) throw UserError("--epochs-per-slice must be at least 1");
  if (geometry.epochs_per_slice > epochs || margin > epochs || geometry.epochs_per_slice + 2 * margin > epochs) {
    throw UserError("a slice with its overlap and the reach of its event definition is longer than " +
                    std::to_string(kLimit) +
                    " ticks: choose smaller --epochs-per-slice, --overlap or --define lengths");
  }
}

}  // namespace

struct SliceBuilder::Work {
  explicit Work(const SliceBuilderSettings& given) : settings(given), decoder(settings), finder(settings.definition) {}

  const SliceBuilderSettings settings;
  SliceDecoder decoder;
  TimeSort time_sort;
  EventFinder finder;
  EventCollector collector;
};

SliceBuilder::SliceBuilder(SliceBuilderSettings settings) {
  settings.geometry.reach = reach_of(settings.definition);
  require_short_window(settings.geometry);
  work_ = std::make_unique<Work>(std::move(settings));
}
SliceBuilder::~SliceBuilder() = default;
SliceBuilder::SliceBuilder(SliceBuilder&&) noexcept = default;

void SliceBuilder::build(SliceId slice, std::span<const SourceSlice> sources, BuiltSlice& out,
                         std::vector<BuildProblem>& problems) {
  const auto& geometry = work_->settings.geometry;
  const auto sent = geometry.sent_epochs(slice);
  const auto owned = geometry.owned_ticks(slice);
  const Tick start = sent.begin * geometry.base.epoch_ticks;
  const DefineWindow window{start, owned.begin - start, owned.end - start, geometry.overlap};

  work_->decoder.decode(slice, sources, problems);
  const DecodedHits& hits = work_->decoder.hits();
  const auto keys = work_->time_sort.sort(hits, sent.end - sent.begin, geometry.base.epoch_ticks);
  const auto events = work_->finder.find(keys, window);

  out.ledger = {.slice = slice.value};
  work_->collector.collect(hits, keys, events, window, work_->settings.with_payload, out);
  account_for_damage(work_->decoder.damage(), geometry, out);
  out.ledger.hits_in =
      hits.count(static_cast<std::uint32_t>(window.slice_begin), static_cast<std::uint32_t>(window.slice_end)) +
      out.ledger.dropped();
}

}  // namespace eventloom
