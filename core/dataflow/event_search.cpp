#include "core/dataflow/event_search.hpp"

#include "core/dataflow/damage_account.hpp"
#include "core/dataflow/tagged_events.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

EventSearch::EventSearch(const SliceBuilderSettings& settings, const WantedEvents& wanted)
    : settings_(settings),
      wanted_(wanted),
      traits_(wanted.definition->traits()),
      geometry_(geometry_of(settings.geometry, wanted)) {
  geometry_.reach = traits_.reach;  // hits farther away decide at most whether an event that is cut has enough
  if (traits_.uses_values()) value_table_.emplace(*settings.detector, first_payload_kinds(settings.stream_flags));
  if (traits_.needs_numbers) match_.emplace(settings.stream_flags, settings.with_payload);
}

void EventSearch::find(SliceHits slice) {
  slice.bounds.overlap = wanted_.overlap;
  if (wanted_.use_tags && take_tagged_events(slice.decoded, slice.keys, slice.bounds, events_)) return;
  SortedHits sorted{slice.bounds.start, slice.keys};
  if (traits_.needs_channels) {
    sorted.channel = {slice.decoded.channel.data(), slice.decoded.size};
    sorted.source = {slice.decoded.source.data(), slice.decoded.size};
  }
  if (value_table_) sorted.value = values_of(slice.decoded);
  events_.restart(slice.keys, slice.bounds);
  wanted_.definition->find(sorted, events_);
}

/// Values by number of the hit.
std::span<const double> EventSearch::values_of(const DecodedHits& hits) {
  values_.require(hits.size);
  for (std::uint32_t i = 0; i < hits.size; ++i) {
    const auto payload = settings_.with_payload ? std::span(hits.payload.data()[i], hits.payload_words.data()[i])
                                                : std::span<const std::uint32_t>();
    values_.data()[i] = (*value_table_)(hits.source.data()[i], hits.channel.data()[i], payload);
  }
  return {values_.data(), hits.size};
}

std::span<const EventRange> EventSearch::runs() const {
  return traits_.finds_runs ? events_.events() : std::span<const EventRange>();
}

void EventSearch::build(SliceHits slice, SliceId id, BuiltSlice& out, std::vector<BuildProblem>& problems) {
  slice.bounds.overlap = wanted_.overlap;
  out.ledger = {.slice = id.value};
  out.losses.clear();
  if (match_) slice.keys = match_->agreeing(slice.decoded, slice.keys, slice.bounds, out, problems);
  find(slice);
  collector_.collect(slice.decoded, slice.keys, events_, slice.bounds, settings_.with_payload, out);
  const std::uint64_t out_of_step = out.ledger.dropped();  // among the decoded hits, hence already counted there
  account_for_damage(slice.damage, geometry_, out);
  if (slice.removed != nullptr) slice.removed->account(out);
  if (match_) {
    const auto taken_out = slice.removed != nullptr ? slice.removed->taken_out() : std::span<const TakenOut>();
    match_->flag_missing(slice.decoded, events_, taken_out, out);
  }
  out.ledger.hits_in = slice.n_remaining + out.ledger.dropped() - out_of_step;
}

}  // namespace eventloom
