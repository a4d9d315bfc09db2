#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace eventloom {

/// Where live sources say they are: those in step with the run, and those that have jumped ahead of it, by place. What
/// the ranks say of theirs is added up; travels as it is.
struct LiveVotes {
  static constexpr std::size_t kPlaces = 16;
  struct Place {
    std::uint64_t epoch = 0;
    std::uint64_t votes = 0;
  };

  std::uint64_t near = 0;     ///< epochs apart that are the same place; the same on all ranks
  std::uint64_t in_step = 0;  ///< sources
  std::uint64_t others = 0;   ///< that have jumped back, or to places which there was no room for
  std::array<Place, kPlaces> places{};

  void jumped_to(std::uint64_t epoch, std::uint64_t votes = 1) {
    for (auto& place : places) {
      const auto apart = place.epoch > epoch ? place.epoch - epoch : epoch - place.epoch;
      if (place.votes != 0 && apart > near) continue;
      if (place.votes == 0) place.epoch = epoch;
      place.votes += votes;
      return;
    }
    // The place with the fewest is the last that may become one where most are.
    auto& least = *std::ranges::min_element(places, {}, &Place::votes);
    others += std::min(votes, least.votes);
    if (least.votes < votes) least = {epoch, votes};
  }

  void add(const LiveVotes& more) {
    near = more.near > near ? more.near : near;
    in_step += more.in_step;
    others += more.others;
    for (const auto& place : more.places) {
      if (place.votes != 0) jumped_to(place.epoch, place.votes);
    }
  }

  /// Where more are than everywhere else together, if they have jumped there; otherwise 0.
  [[nodiscard]] std::uint64_t majority() const {
    std::uint64_t all = in_step + others;
    for (const auto& place : places) all += place.votes;
    for (const auto& place : places) {
      if (2 * place.votes > all) return place.epoch;
    }
    return 0;
  }
};

}  // namespace eventloom
