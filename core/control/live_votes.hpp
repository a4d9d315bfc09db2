#pragma once

#include <algorithm>
#include <cstdint>

#include "formats/control_wire.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Adds the votes of sources that have jumped to `epoch`.
inline void add_jump(LiveVotes& all, Epoch epoch, std::uint64_t votes = 1) {
  for (auto& place : all.places) {
    const auto apart = place.epoch > epoch ? place.epoch - epoch : epoch - place.epoch;
    if (place.votes != 0 && apart > all.near) continue;
    if (place.votes == 0) place.epoch = epoch;
    place.votes += votes;
    return;
  }
  // The place with the fewest votes is the least likely to get the majority.
  auto& least = *std::ranges::min_element(all.places, {}, &LiveVotes::Place::votes);
  all.others += std::min(votes, least.votes);
  if (least.votes < votes) least = {epoch, votes};
}

inline void add(LiveVotes& all, const LiveVotes& more) {
  all.near = std::max(all.near, more.near);
  all.in_step += more.in_step;
  all.others += more.others;
  for (const auto& place : more.places) {
    if (place.votes != 0) add_jump(all, place.epoch, place.votes);
  }
}

/// The place to which more than half of all sources have jumped; 0: none.
[[nodiscard]] inline Epoch majority(const LiveVotes& votes) {
  std::uint64_t all = votes.in_step + votes.others;
  for (const auto& place : votes.places) all += place.votes;
  for (const auto& place : votes.places) {
    if (2 * place.votes > all) return place.epoch;
  }
  return 0;
}

}  // namespace eventloom
