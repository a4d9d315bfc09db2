#include "core/dataflow/define.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Steps after which a search stops going one by one: events of some hits are found with one
/// wrongly predicted branch.
constexpr std::size_t kNear = 16;

/// First position in [from, size) whose tick is not below `tick`; cheap when it is near `from`.
std::uint32_t seek_forward(std::span<const HitKey> keys, std::uint32_t from, std::uint64_t tick) {
  std::size_t low = from;
  const std::size_t near = std::min(low + kNear, keys.size());
  while (low < near && tick_of(keys[low]) < tick) ++low;
  if (low < near) return static_cast<std::uint32_t>(low);
  std::size_t step = kNear;
  while (low + step <= keys.size() && tick_of(keys[low + step - 1]) < tick) {
    low += step;
    step *= 2;
  }
  const auto rest = keys.subspan(low, std::min(step, keys.size() - low));
  const auto at = std::ranges::partition_point(rest, [tick](HitKey key) { return tick_of(key) < tick; });
  return static_cast<std::uint32_t>(low + static_cast<std::size_t>(at - rest.begin()));
}

/// First position in [0, from] from which on all ticks before `from` are at least `tick`; cheap when
/// it is near `from`.
std::uint32_t seek_backward(std::span<const HitKey> keys, std::uint32_t from, std::uint64_t tick) {
  std::size_t high = from;
  const std::size_t near = high - std::min(high, kNear);
  while (high > near && tick_of(keys[high - 1]) >= tick) --high;
  if (high > near) return static_cast<std::uint32_t>(high);
  std::size_t step = kNear;
  while (high >= step && tick_of(keys[high - step]) >= tick) {
    high -= step;
    step *= 2;
  }
  return seek_forward(keys.first(high), static_cast<std::uint32_t>(high - std::min(step, high)), tick);
}

}  // namespace

std::span<const EventRange> EventFinder::find(std::span<const HitKey> keys, const DefineWindow& window) {
  keys_ = keys;
  window_ = window;
  events_.clear();
  if (keys.empty()) return {};
  if (const auto* multiplicity = std::get_if<MultiplicityDefinition>(&definition_)) {
    find_multiplicity(*multiplicity);
  } else if (const auto* gap = std::get_if<GapDefinition>(&definition_)) {
    find_gap(*gap);
  } else {
    find_gap({.gap = 0, .min_hits = 1});
  }
  return events_;
}

std::span<const EventRange> EventFinder::find_tagged(std::span<const HitKey> keys, const DefineWindow& window,
                                                     const DecodedHits& hits) {
  events_.clear();
  for (const auto& [hit, tag] : hits.tags) {
    const HitKey first = make_key(hit < hits.size ? hits.tick.data()[hit] : 0, hit);
    const auto begin = static_cast<std::uint32_t>(std::ranges::lower_bound(keys, first) - keys.begin());
    if (begin == keys.size() || tag.n_hits == 0) return find(keys, window);  // not what a run has left
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(std::size_t{begin} + tag.n_hits, keys.size()));
    events_.push_back({begin, end, tag.truncated});
  }
  std::ranges::sort(events_, {}, &EventRange::begin);
  if (!plausible(keys, window)) return find(keys, window);
  std::erase_if(events_, [&](const EventRange& e) {
    return tick_of(keys[e.begin]) >= window.slice_end || tick_of(keys[e.end - 1]) < window.slice_begin;
  });
  return events_;
}

/// Whether the events lie one behind the other and none is longer than the overlap.
bool EventFinder::plausible(std::span<const HitKey> keys, const DefineWindow& window) const {
  std::uint32_t next = 0;
  for (const auto& event : events_) {
    if (event.begin < next) return false;
    // One that begins behind the slice may reach out of the window: it is another slice's.
    const bool seen_whole = tick_of(keys[event.begin]) < window.slice_end;
    if (seen_whole && tick_of(keys[event.end - 1]) - tick_of(keys[event.begin]) > window.overlap) return false;
    next = event.end;
  }
  return true;
}

void EventFinder::find_gap(const GapDefinition& gap) {
  // Where runs start and which are long enough is collected without branches: in real data neither
  // can be foreseen.
  const auto n = static_cast<std::uint32_t>(keys_.size());
  std::uint32_t* starts = starts_.require(keys_.size() + 1);
  std::uint32_t runs = 1;
  starts[0] = 0;
  for (std::uint32_t i = 1; i < n; ++i) {
    starts[runs] = i;
    runs += static_cast<std::uint32_t>(tick_of(keys_[i]) - tick_of(keys_[i - 1]) > gap.gap);
  }
  starts[runs] = n;
  for (std::uint32_t r = 0; r < runs; ++r) {
    if (starts[r + 1] - starts[r] < gap.min_hits) continue;
    if (!admit(starts[r], starts[r + 1], gap.min_hits)) break;
  }
}

void EventFinder::find_multiplicity(const MultiplicityDefinition& m) {
  const auto n = static_cast<std::uint32_t>(keys_.size());
  if (m.threshold > n) return;
  const auto others = static_cast<std::uint32_t>(m.threshold - 1);
  const std::uint64_t bridge = m.pre + m.post + 1;
  bool open = false;
  std::uint64_t first_bin = 0;
  std::uint64_t last_bin = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i + std::uint64_t{others} < n;) {
    const std::uint32_t tick = tick_of(keys_[i]);
    if (tick_of(keys_[i + others]) - tick >= m.width) {
      ++i;
      continue;
    }
    const std::uint64_t bin = (window_.start + tick) / m.width;
    const std::uint64_t bin_end = (bin + 1) * m.width - window_.start;
    const bool hot = tick_of(keys_[i + others]) < bin_end;
    const std::uint32_t next = seek_forward(keys_, hot ? i + others + 1 : i + 1, bin_end);
    if (hot) {
      if (open && bin - last_bin > bridge) {
        widen(m, first_bin, last_bin, begin, end);
        open = false;
      }
      if (!open) {
        first_bin = bin;
        begin = i;
      }
      open = true;
      last_bin = bin;
      end = next;
    }
    i = next;
  }
  if (open) widen(m, first_bin, last_bin, begin, end);
}

/// A group of hot bins whose hits are [begin, end), to the event around it.
void EventFinder::widen(const MultiplicityDefinition& m, std::uint64_t first_bin, std::uint64_t last_bin,
                        std::uint32_t begin, std::uint32_t end) {
  const Tick low = (first_bin - std::min(first_bin, m.pre)) * m.width;
  const Tick high = (last_bin + m.post + 1) * m.width;
  admit(seek_backward(keys_, begin, low - std::min(low, window_.start)), seek_forward(keys_, end, high - window_.start),
        1);
}

/// Takes an event, cut at the overlap, if it has a hit in the slice. False when no later event can.
bool EventFinder::admit(std::uint32_t begin, std::uint32_t end, std::uint64_t min_hits) {
  const std::uint64_t first = tick_of(keys_[begin]);
  if (first >= window_.slice_end) return false;
  const bool truncated = tick_of(keys_[end - 1]) - first > window_.overlap;
  if (truncated) end = seek_forward(keys_.first(end), begin, first + window_.overlap + 1);
  if (first < window_.slice_begin) {
    // What starts so early that its true start may lie before the window ends before the slice.
    const std::uint32_t inside = seek_forward(keys_.first(end), begin, window_.slice_begin);
    if (inside == end || tick_of(keys_[inside]) >= window_.slice_end) return true;
  }
  if (end - begin >= min_hits) events_.push_back({begin, end, truncated});
  return true;
}

}  // namespace eventloom
