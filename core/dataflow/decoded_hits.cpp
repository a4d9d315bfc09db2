#include "core/dataflow/decoded_hits.hpp"

#include <algorithm>
#include <iterator>

namespace eventloom {

std::uint64_t DecodedHits::count(Tick begin, Tick end) const {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) sum += count_of(s, begin, end);
  return sum;
}

std::uint64_t DecodedHits::count_of(std::size_t stream, Tick begin, Tick end) const {
  const auto& of = sources[stream];
  const auto first = first_at(of, begin.value, of.begin);
  return first_at(of, end.value, first) - first;
}

std::uint32_t DecodedHits::first_at(const DecodedSource& stream, std::uint64_t time, std::uint32_t from) const {
  const auto next = std::ranges::lower_bound(stream.marks, time, {}, &DecodedSource::TickMark::tick);
  const std::uint32_t end = next == stream.marks.end() ? stream.end : next->hit;
  if (next == stream.marks.begin()) return std::max(from, end);
  const auto& mark = *std::prev(next);
  const auto earlier = [&](std::uint32_t low) { return tick_after(mark.tick, low) < time; };
  // The hit is usually near.
  const std::uint32_t* const ticks = tick.data();
  std::uint32_t begin = std::max(from, mark.hit);
  std::uint32_t step = 64;
  for (; begin + step < end && earlier(ticks[begin + step]); step *= 2) begin += step;
  const std::uint32_t* const last = ticks + std::min(end, begin + step);
  return static_cast<std::uint32_t>(std::partition_point(ticks + begin, last, earlier) - ticks);
}

std::uint64_t DecodedHits::tick_of_hit(std::uint32_t number) const {
  const auto low = tick.data()[number];
  const auto stream = std::ranges::upper_bound(sources, number, {}, &DecodedSource::end);
  const auto next = std::ranges::upper_bound(stream->marks, number, {}, &DecodedSource::TickMark::hit);
  return next == stream->marks.begin() ? low : tick_after(std::prev(next)->tick, low);
}

}  // namespace eventloom
