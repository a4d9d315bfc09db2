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
      kinds_(first_payload_kinds(settings.stream_flags)) {
  for (std::size_t s = 0; s < settings.detector->sources(); ++s) {
    takes_out_.push_back(false);
    settings.detector->visit(static_cast<std::uint16_t>(s), [this](std::uint32_t, const ChannelInfo& info) {
      takes_out_.back() = takes_out_.back() || info.masked || info.cut;
    });
  }
}

std::span<const HitKey> HitCorrection::correct(const DecodedHits& hits, const SliceBounds& bounds, Tick n_ticks,
                                               RemovedHits& removed, std::vector<BuildProblem>& problems) {
  bounds_ = bounds;
  removed_ = &removed;
  n_ticks_ = n_ticks;
  n_keys_ = kept_in_slice_ = 0;
  keys_.require(hits.size);
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
  for (std::size_t s = 0; s < settings_.detector->sources(); ++s) {
    const auto untimed = removed.of(s, DropCause::untimed);
    if (untimed == 0) continue;
    Damage damage;
    damage.first_epoch = epoch_of(bounds.start, settings_.geometry.base.epoch_ticks);
    damage.n_hits = static_cast<std::uint32_t>(untimed);
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
  hits.each_run(stream, [&](std::uint64_t base, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i) {
      const std::int64_t tick = static_cast<std::int64_t>(tick_after(base, ticks[i])) + delta_of(i);
      *out = make_key(static_cast<std::uint64_t>(tick), i);
      out += static_cast<std::uint64_t>(tick) < n_ticks ? 1 : 0;
      in_slice += static_cast<std::uint64_t>(tick) - begin < length ? 1 : 0;
      before += tick < 0 ? 1 : 0;
    }
  });
  n_keys_ = static_cast<std::size_t>(out - keys_.data());
  kept_in_slice_ += in_slice;
  if (removed_->is_first()) removed_->add(source, DropCause::untimed, before);
}

void HitCorrection::apply_rules(const DecodedHits& hits, const DecodedSource& stream, std::int64_t base) {
  const auto* sources = hits.source.data();
  const auto* channels = hits.channel.data();
  const auto* ticks = hits.tick.data();
  hits.each_run(stream, [&](std::uint64_t from, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end;) {
      const std::uint16_t source = sources[i];
      const auto rules = rules_.of(source);
      for (; i < end && sources[i] == source; ++i) {
        const Rule& rule = rules[channels[i]];
        apply(rule, hits, i, static_cast<std::int64_t>(tick_after(from, ticks[i])) + base + rule.offset);
      }
    }
  });
}

inline void HitCorrection::apply(const Rule& rule, const DecodedHits& hits, std::uint32_t number, std::int64_t tick) {
  const std::uint16_t source = hits.source.data()[number];
  if (rule.masked) return removed_->remove(source, tick, DropCause::masked);
  if (rule.cut) {
    const auto payload = settings_.with_payload
                             ? std::span(hits.payload.data()[number], hits.payload_words.data()[number])
                             : std::span<const std::uint32_t>();
    const double first = payload_number(kinds_, source, payload);
    const bool good = rule.min_payload <= first && first <= rule.max_payload;  // false without payload
    if (!good) return removed_->remove(source, tick, DropCause::cut);
  }
  if (tick < 0) return removed_->remove(source, tick, DropCause::untimed);
  if (Tick(tick) >= n_ticks_) return;
  keys_.data()[n_keys_++] = make_key(static_cast<std::uint64_t>(tick), number);
  const Tick length = bounds_.slice_end - bounds_.slice_begin;
  kept_in_slice_ += Tick(tick) - bounds_.slice_begin < length ? 1 : 0;
}

/// Counts hits of epochs that are sent with slice 0 only because all their corrected times are before tick 0.
void HitCorrection::count_early(const DecodedHits& hits) {
  if (!removed_->is_first()) return;
  for (std::size_t s = 0; s < hits.sources.size(); ++s) {
    if (hits.sources[s].early != 0) {
      removed_->add(static_cast<std::uint16_t>(s), DropCause::untimed, hits.sources[s].early);
    }
  }
}

std::span<const HitKey> HitCorrection::order_equal_times(const DecodedHits& hits, std::span<const HitKey> keys) {
  const auto* sources = hits.source.data();
  const auto place = [&hits, sources](HitKey key) {
    return std::tuple(sources[number_of(key)], hits.tick_of_hit(number_of(key)), key);
  };
  ordered_.assign(keys.begin(), keys.end());
  for (auto begin = ordered_.begin(); begin != ordered_.end();) {
    const auto end = std::find_if(begin, ordered_.end(), [&](HitKey key) { return tick_of(key) != tick_of(*begin); });
    std::ranges::sort(begin, end, {}, place);
    begin = end;
  }
  return ordered_;
}

}  // namespace eventloom
