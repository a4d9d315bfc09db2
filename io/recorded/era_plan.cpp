#include "io/recorded/era_plan.hpp"

#include <algorithm>
#include <limits>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// The first source with hits; throws UserError if another jumps more or less often.
const SourceEras* equal_eras(std::span<const SourceEras> sources) {
  const SourceEras* first = nullptr;
  for (const auto& source : sources) {
    if (source.spans.empty()) continue;
    if (first == nullptr) first = &source;
    if (source.spans.size() == first->spans.size()) continue;
    throw UserError(fmt::format(
        "the times of '{}' jump {} times, those of '{}', which has the same clock, {} times: it is unknown which "
        "jumps belong together, for jumps=new-era; name the sources apart, by clock=NAME, to place the eras of each "
        "alone",
        first->name, first->spans.size() - 1, source.name, source.spans.size() - 1));
  }
  return first;
}

}  // namespace

std::vector<EraPlace> place_eras(std::span<const SourceEras> sources, Tick pause) {
  const auto* const first = equal_eras(sources);
  std::vector<EraPlace> places;
  Tick added = 0;
  for (std::size_t era = 1; first != nullptr && era < first->spans.size(); ++era) {
    Tick end = 0;
    Tick begin = std::numeric_limits<Tick>::max();
    for (const auto& source : sources) {
      if (source.spans.empty()) continue;
      end = std::max(end, source.spans[era - 1].last + added);
      begin = std::min(begin, source.spans[era].first);
    }
    if (end > std::numeric_limits<Tick>::max() - 2 * pause) {
      throw UserError("'" + first->name + "': an era would come later than 2^64 ticks with jumps=new-era");
    }
    added = end + pause - begin;
    places.push_back({end, added});
  }
  return places;
}

}  // namespace eventloom
