#include "core/dataflow/number_match.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/stream_file.hpp"

namespace eventloom {

NumberMatch::NumberMatch(std::vector<std::uint32_t> stream_flags, bool with_payload) : flags_(std::move(stream_flags)) {
  std::size_t with_trigger = 0;
  std::size_t with_tag = 0;
  for (std::size_t s = 0; s < flags_.size(); ++s) {
    const auto source = static_cast<std::uint16_t>(s);
    if (!has(source, kNumbered)) continue;
    ++n_numbered_;
    if (!has(source, kOptional)) numbered_.push_back(source);
    with_trigger += has(source, kTriggerInPayload) ? 1U : 0U;
    with_tag += has(source, kTagWord) ? 1U : 0U;
  }
  compares_ = with_payload && (with_trigger > 1 || with_tag > 1);
}

/// Collects the parts of the event whose first hit is at `begin`; returns its end.
std::uint32_t NumberMatch::find_parts(const DecodedHits& hits, std::span<const HitKey> keys, std::uint32_t begin) {
  parts_.clear();
  std::uint32_t at = begin;
  for (; at < keys.size() && tick_of(keys[at]) == tick_of(keys[begin]); ++at) {
    const auto number = number_of(keys[at]);
    if (!parts_.empty() && parts_.back().source == hits.source.data()[number]) continue;
    if (!parts_.empty()) parts_.back().end = at;
    parts_.push_back(part_of(hits, number));
    parts_.back().begin = at;
  }
  parts_.back().end = at;
  return at;
}

/// The part that begins with this hit, with what the hit reveals.
NumberMatch::Part NumberMatch::part_of(const DecodedHits& hits, std::uint32_t number) const {
  Part part{hits.source.data()[number], kUnknown, kUnknown, 0, 0};
  if (!compares_ || !has(part.source, kNumbered)) return part;
  const auto words = hits.payload_words.data()[number];
  const auto* const payload = hits.payload.data()[number];
  const auto tag_at = tag_word(flags_[part.source]);
  if (has(part.source, kTriggerInPayload) && words > 1) part.trigger = payload[1] >> 16;
  if (tag_at != 0 && words >= tag_at) part.tag = payload[tag_at - 1] & 0xffU;
  return part;
}

bool NumberMatch::same_everywhere(Mark mark) const {
  std::uint32_t first = kUnknown;
  for (const Part& part : parts_) {
    if (part.*mark == kUnknown || part.*mark == first) continue;
    if (first != kUnknown) return false;
    first = part.*mark;
  }
  return true;
}

/// The most frequent value among the parts kept; in a tie, that of the first part.
std::uint32_t NumberMatch::common(Mark mark) const {
  const auto votes = [this, mark](const Part& part) {
    if (part.dropped || part.*mark == kUnknown) return std::ptrdiff_t{0};
    return std::ranges::count_if(parts_,
                                 [&](const Part& other) { return !other.dropped && other.*mark == part.*mark; });
  };
  return (*std::ranges::max_element(parts_, {}, votes)).*mark;
}

std::span<const HitKey> NumberMatch::agreeing(const DecodedHits& hits, std::span<const HitKey> keys,
                                              const SliceBounds& bounds, BuiltSlice& out,
                                              std::vector<BuildProblem>& problems) {
  tag_errors_.clear();
  if (!compares_) return keys;
  kept_.clear();
  bool all_kept = true;
  for (std::uint32_t begin = 0; begin < keys.size();) {
    const std::uint32_t end = find_parts(hits, keys, begin);
    const bool mixed = !same_everywhere(&Part::trigger) || !same_everywhere(&Part::tag);
    if (mixed && all_kept) {
      kept_.assign(keys.begin(), keys.begin() + begin);
      all_kept = false;
    }
    if (mixed) {
      keep_or_drop(keys, bounds, out, problems);
    } else if (!all_kept) {
      kept_.insert(kept_.end(), keys.begin() + begin, keys.begin() + end);
    }
    begin = end;
  }
  return all_kept ? keys : std::span<const HitKey>(kept_);
}

void NumberMatch::keep_or_drop(std::span<const HitKey> keys, const SliceBounds& bounds, BuiltSlice& out,
                               std::vector<BuildProblem>& problems) {
  const Tick tick = tick_of(keys[parts_.front().begin]);
  const bool owned = tick >= bounds.slice_begin && tick < bounds.slice_end;
  const Tick event = bounds.start + tick;
  drop_others(&Part::trigger, "trigger type", event, owned, out, problems);
  if (drop_others(&Part::tag, "tag", event, owned, out, problems)) tag_errors_.push_back(tick);
  for (const Part& part : parts_) {
    if (!part.dropped) kept_.insert(kept_.end(), keys.begin() + part.begin, keys.begin() + part.end);
  }
}

/// Drops the parts that differ from the majority; returns whether any did.
bool NumberMatch::drop_others(Mark mark, const char* name, Tick event, bool owned, BuiltSlice& out,
                              std::vector<BuildProblem>& problems) {
  const auto right = common(mark);
  bool any = false;
  for (Part& part : parts_) {
    if (part.dropped || part.*mark == kUnknown || part.*mark == right) continue;
    any = part.dropped = true;
    if (!owned) continue;
    out.ledger.hits_dropped[static_cast<std::size_t>(DropCause::out_of_step)] += part.end - part.begin;
    Damage damage;
    damage.n_hits = part.end - part.begin;
    damage.cause = DropCause::out_of_step;
    problems.push_back({{part.source},
                        damage,
                        "event " + std::to_string(event.value) + " has " + name + " " + std::to_string(part.*mark) +
                            " where other sources have " + std::to_string(right)});
  }
  return any;
}

void NumberMatch::flag_missing(const DecodedHits& hits, const EventList& events, std::span<const TakenOut> taken_out,
                               BuiltSlice& out) {
  if (n_numbered_ < 2) return;
  lacking_.assign(numbered_.size(), 0);
  for (std::size_t i = 0; i < events.events().size(); ++i) {
    if (out.events.owned[i] == 0) continue;
    find_parts(hits, events.hits(), events.events()[i].begin);
    flag_event(i, tick_of(events.hits()[events.events()[i].begin]), taken_out, out.events);
  }
  auto& missing = out.sources_missing;
  for (std::size_t n = 0; n < numbered_.size(); ++n) {
    if (lacking_[n] != 0) missing.push_back(numbered_[n]);
  }
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
}

/// Flags the event whose parts were found last.
void NumberMatch::flag_event(std::size_t event, Tick tick, std::span<const TakenOut> taken_out, EventColumns& columns) {
  if (std::ranges::binary_search(tag_errors_, tick)) columns.flags[event] |= kTagError;
  auto part = parts_.begin();
  for (std::size_t n = 0; n < numbered_.size(); ++n) {
    while (part != parts_.end() && part->source < numbered_[n]) ++part;
    if (part != parts_.end() && part->source == numbered_[n]) continue;
    if (std::ranges::binary_search(taken_out, TakenOut{tick, numbered_[n]})) continue;
    columns.flags[event] |= kIncomplete;
    columns.sources_missing[event] |= source_bit({numbered_[n]});
    lacking_[n] = 1;
  }
}

}  // namespace eventloom
