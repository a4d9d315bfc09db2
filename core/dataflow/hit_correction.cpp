#include "core/dataflow/hit_correction.hpp"

#include <algorithm>
#include <tuple>

#include "formats/offset_span.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

HitCorrection::HitCorrection(const SliceBuilderSettings& settings)
    : settings_(settings),
      rules_(*settings.detector,
             [](const ChannelInfo& info) {
               Rule rule{info.offset, info.masked, info.cut, info.min_payload, info.max_payload};
               if (rule.masked || !rule.cut) rule.min_payload = rule.max_payload = 0;
               return rule;
             }),
      kinds_(first_payload_kinds(settings.stream_flags)),
      by_number_(std::ranges::any_of(
          settings.events, [](const WantedEvents& wanted) { return wanted.definition->traits().needs_numbers; })) {
  for (std::size_t s = 0; s < settings.detector->sources(); ++s) {
    takes_out_.push_back(false);
    settings.detector->visit(static_cast<std::uint16_t>(s), [this](std::uint32_t, const ChannelInfo& info) {
      takes_out_.back() = takes_out_.back() || info.masked || info.cut;
    });
  }
}

std::span<const HitKey> HitCorrection::correct(const DecodedHits& hits, const SliceBounds& bounds, Tick n_ticks,
                                               std::vector<BuildProblem>& problems) {
  bounds_ = bounds;
  n_ticks_ = n_ticks;
  n_keys_ = kept_in_slice_ = 0;
  keys_.require(hits.size);
  dropped_.assign(settings_.detector->sources(), {});
  taken_out_.clear();
  for (std::size_t s = 0; s < hits.sources.size(); ++s) {
    const auto& stream = hits.sources[s];
    // Modulo 2^64: adding a tick of the stream gives a small number again.
    const auto base = static_cast<std::int64_t>(stream.start - bounds.start);
    const bool uniform = !settings_.sorted && rules_.of(static_cast<std::uint16_t>(s)).uniform();
    const Rule rule = uniform ? rules_.of(static_cast<std::uint16_t>(s))[0] : Rule{};
    if (uniform && !rule.masked && !rule.cut) {
      shift(hits, static_cast<std::uint16_t>(s), [delta = base + rule.offset](std::uint32_t) { return delta; });
    } else if (!settings_.sorted && !takes_out_[s]) {
      const auto rules = rules_.of(static_cast<std::uint16_t>(s));
      const auto* channels = hits.channel.data();
      shift(hits, static_cast<std::uint16_t>(s), [=](std::uint32_t i) { return base + rules[channels[i]].offset; });
    } else {
      apply_rules(hits, stream, base);
    }
  }
  count_early(hits);
  std::ranges::sort(taken_out_);
  for (std::size_t s = 0; s < dropped_.size(); ++s) {
    if (dropped_[s].untimed == 0) continue;
    Damage damage;
    damage.first_epoch = epoch_of(bounds.start, settings_.geometry.base.epoch_ticks);
    damage.n_hits = static_cast<std::uint32_t>(dropped_[s].untimed);
    damage.cause = DropCause::untimed;
    problems.push_back({{static_cast<std::uint16_t>(s)}, damage, "their corrected times are before tick 0"});
  }
  return {keys_.data(), n_keys_};
}

/// Handles a stream from which no hit is removed. Branch-free, since branches near slice boundaries are unpredictable.
/// `delta_of`: ticks to add to a hit, given its number.
template <class DeltaOf>
void HitCorrection::shift(const DecodedHits& hits, std::uint16_t source, DeltaOf delta_of) {
  const auto& stream = hits.sources[source];
  HitKey* out = keys_.data() + n_keys_;
  std::uint64_t in_slice = 0;
  std::uint64_t before = 0;
  const auto* ticks = hits.tick.data();
  const std::uint64_t begin = bounds_.slice_begin.value;
  const std::uint64_t length = bounds_.slice_end.value - begin;
  const std::uint64_t n_ticks = n_ticks_.value;
  for (std::uint32_t i = stream.begin; i < stream.end; ++i) {
    const std::int64_t tick = ticks[i] + delta_of(i);
    *out = make_key(static_cast<std::uint32_t>(tick), i);
    out += static_cast<std::uint64_t>(tick) < n_ticks ? 1 : 0;
    in_slice += static_cast<std::uint64_t>(tick) - begin < length ? 1 : 0;
    before += tick < 0 ? 1 : 0;
  }
  n_keys_ = static_cast<std::size_t>(out - keys_.data());
  kept_in_slice_ += in_slice;
  if (is_first()) dropped_[source].untimed += before;
}

void HitCorrection::apply_rules(const DecodedHits& hits, const DecodedSource& stream, std::int64_t base) {
  const auto* sources = hits.source.data();
  const auto* channels = hits.channel.data();
  const auto* ticks = hits.tick.data();
  for (std::uint32_t i = stream.begin; i < stream.end;) {
    const std::uint16_t source = sources[i];
    const auto rules = rules_.of(source);
    for (; i < stream.end && sources[i] == source; ++i) {
      const Rule& rule = rules[channels[i]];
      apply(rule, hits, i, ticks[i] + base + rule.offset);
    }
  }
}

inline void HitCorrection::apply(const Rule& rule, const DecodedHits& hits, std::uint32_t number, std::int64_t tick) {
  if (rule.masked) return drop(hits.source.data()[number], tick, &Dropped::masked);
  if (rule.cut) {
    const auto payload = settings_.with_payload
                             ? std::span(hits.payload.data()[number], hits.payload_words.data()[number])
                             : std::span<const std::uint32_t>();
    const double first = payload_number(kinds_, hits.source.data()[number], payload);
    const bool good = rule.min_payload <= first && first <= rule.max_payload;  // false without payload
    if (!good) return drop(hits.source.data()[number], tick, &Dropped::cut);
  }
  if (tick < 0) return drop(hits.source.data()[number], tick, &Dropped::untimed);
  if (Tick(tick) >= n_ticks_) return;
  keys_.data()[n_keys_++] = make_key(static_cast<std::uint32_t>(tick), number);
  const Tick length = bounds_.slice_end - bounds_.slice_begin;
  kept_in_slice_ += Tick(tick) - bounds_.slice_begin < length ? 1 : 0;
}

/// Counts a hit in the slice that it belongs to.
void HitCorrection::drop(std::uint16_t source, std::int64_t tick, std::uint64_t Dropped::*cause) {
  const Tick at(tick);
  const bool here = tick < 0 ? is_first() : at >= bounds_.slice_begin && at < bounds_.slice_end;
  if (!here) return;
  ++(dropped_[source].*cause);
  if (by_number_ && tick >= 0) taken_out_.push_back({at, source});
}

/// Counts hits of epochs that are sent with slice 0 only because all their corrected times are before tick 0.
void HitCorrection::count_early(const DecodedHits& hits) {
  if (!is_first()) return;
  for (std::size_t s = 0; s < hits.sources.size(); ++s) {
    if (hits.sources[s].early != 0) dropped_.at(s).untimed += hits.sources[s].early;
  }
}

std::span<const HitKey> HitCorrection::order_equal_times(const DecodedHits& hits, std::span<const HitKey> keys) {
  const auto* sources = hits.source.data();
  const auto* ticks = hits.tick.data();
  const auto place = [=](HitKey key) { return std::tuple(sources[number_of(key)], ticks[number_of(key)], key); };
  ordered_.assign(keys.begin(), keys.end());
  for (auto begin = ordered_.begin(); begin != ordered_.end();) {
    const auto end = std::find_if(begin, ordered_.end(), [&](HitKey key) { return tick_of(key) != tick_of(*begin); });
    std::ranges::sort(begin, end, {}, place);
    begin = end;
  }
  return ordered_;
}

void HitCorrection::account(BuiltSlice& out) const {
  auto& dropped = out.ledger.hits_dropped;
  for (std::size_t s = 0; s < dropped_.size(); ++s) {
    const auto& of = dropped_[s];
    dropped[static_cast<std::size_t>(DropCause::untimed)] += of.untimed;
    const auto enter = [&](DropCause cause, std::uint64_t n) {
      if (n == 0) return;
      dropped[static_cast<std::size_t>(cause)] += n;
      out.losses.push_back({static_cast<std::uint32_t>(s), cause, n});
    };
    enter(DropCause::masked, of.masked);
    enter(DropCause::cut, of.cut);
  }
}

}  // namespace eventloom
