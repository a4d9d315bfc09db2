#include "core/dataflow/number_match.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/stream_file.hpp"

namespace eventloom {

NumberMatch::NumberMatch(std::vector<std::uint32_t> stream_flags, bool with_payload) : flags_(std::move(stream_flags)) {
  std::size_t with_trigger = 0;
  for (std::size_t s = 0; s < flags_.size(); ++s) {
    const auto source = static_cast<std::uint16_t>(s);
    if (has(source, kNumbered)) numbered_.push_back(source);
    if (has(source, kNumbered) && has(source, kTriggerInPayload)) ++with_trigger;
  }
  triggers_ = with_payload && with_trigger > 1;
}

/// Collects the parts of the event whose first hit is at `begin`; returns where it ends.
std::uint32_t NumberMatch::find_parts(const DecodedHits& hits, std::span<const HitKey> keys, std::uint32_t begin) {
  parts_.clear();
  std::uint32_t at = begin;
  for (; at < keys.size() && tick_of(keys[at]) == tick_of(keys[begin]); ++at) {
    const auto number = number_of(keys[at]);
    const std::uint16_t source = hits.source.data()[number];
    if (!parts_.empty() && parts_.back().source == source) continue;
    if (!parts_.empty()) parts_.back().end = at;
    const bool told = triggers_ && has(source, kTriggerInPayload) && hits.payload_words.data()[number] > 1;
    parts_.push_back({source, told ? hits.payload.data()[number][1] >> 16 : kUntold, at, at});
  }
  parts_.back().end = at;
  return at;
}

bool NumberMatch::same_everywhere() const {
  std::uint32_t first = kUntold;
  for (const Part& part : parts_) {
    if (part.trigger == kUntold || part.trigger == first) continue;
    if (first != kUntold) return false;
    first = part.trigger;
  }
  return true;
}

std::uint32_t NumberMatch::common_trigger() const {
  const auto votes = [this](const Part& part) {
    return part.trigger == kUntold ? 0 : std::ranges::count(parts_, part.trigger, &Part::trigger);
  };
  return std::ranges::max_element(parts_, {}, votes)->trigger;  // the first of several
}

std::span<const HitKey> NumberMatch::same_trigger(const DecodedHits& hits, std::span<const HitKey> keys,
                                                  const SliceBounds& bounds, BuiltSlice& out,
                                                  std::vector<BuildProblem>& problems) {
  if (!triggers_) return keys;
  kept_.clear();
  bool all_kept = true;
  for (std::uint32_t begin = 0; begin < keys.size();) {
    const std::uint32_t end = find_parts(hits, keys, begin);
    const bool mixed = !same_everywhere();
    if (mixed && all_kept) {
      kept_.assign(keys.begin(), keys.begin() + begin);
      all_kept = false;
    }
    if (mixed) {
      keep_or_drop(keys, common_trigger(), bounds, out, problems);
    } else if (!all_kept) {
      kept_.insert(kept_.end(), keys.begin() + begin, keys.begin() + end);
    }
    begin = end;
  }
  return all_kept ? keys : std::span<const HitKey>(kept_);
}

void NumberMatch::keep_or_drop(std::span<const HitKey> keys, std::uint32_t common, const SliceBounds& bounds,
                               BuiltSlice& out, std::vector<BuildProblem>& problems) {
  const std::uint32_t tick = tick_of(keys[parts_.front().begin]);
  const bool owned = tick >= bounds.slice_begin && tick < bounds.slice_end;
  for (const Part& part : parts_) {
    if (part.trigger == common || part.trigger == kUntold) {
      kept_.insert(kept_.end(), keys.begin() + part.begin, keys.begin() + part.end);
      continue;
    }
    if (!owned) continue;
    out.ledger.hits_dropped[static_cast<std::size_t>(DropCause::out_of_step)] += part.end - part.begin;
    Damage damage;
    damage.n_hits = part.end - part.begin;
    damage.cause = DropCause::out_of_step;
    problems.push_back({{part.source},
                        damage,
                        "event " + std::to_string(bounds.start + tick) + " has trigger type " +
                            std::to_string(part.trigger) + " where other sources have " + std::to_string(common)});
  }
}

void NumberMatch::flag_missing(const DecodedHits& hits, const EventList& events, std::span<const TakenOut> taken_out,
                               BuiltSlice& out) {
  if (numbered_.size() < 2) return;
  lacking_.assign(numbered_.size(), 0);
  for (std::size_t i = 0; i < events.events().size(); ++i) {
    if (out.events.owned[i] == 0) continue;
    find_parts(hits, events.hits(), events.events()[i].begin);
    auto part = parts_.begin();
    for (std::size_t n = 0; n < numbered_.size(); ++n) {
      while (part != parts_.end() && part->source < numbered_[n]) ++part;
      if (part != parts_.end() && part->source == numbered_[n]) continue;
      const TakenOut unwanted{tick_of(events.hits()[events.events()[i].begin]), numbered_[n]};
      if (std::ranges::binary_search(taken_out, unwanted)) continue;
      out.events.flags[i] |= kIncomplete;
      out.events.sources_missing[i] |= source_bit({numbered_[n]});
      lacking_[n] = 1;
    }
  }
  auto& missing = out.sources_missing;
  for (std::size_t n = 0; n < numbered_.size(); ++n) {
    if (lacking_[n] != 0) missing.push_back(numbered_[n]);
  }
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
}

}  // namespace eventloom
