#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/definitions/expression.hpp"
#include "core/definitions/hit_selection.hpp"
#include "core/detector/channel_table.hpp"

namespace eventloom {

/// Quantities of selected hits (Quantity::selects()) in a window that moves over sorted hits, or in their own windows
/// around the hit that opens it.
class SelectedWindows {
 public:
  /// `groups`: those of each channel. Keeps its own copies of the selected hits.
  SelectedWindows(const Expression& condition, const ChannelTable<GroupSet>& groups, const SortedHits& hits);

  /// Moves to the window from the tick `opening` to the tick `last`. Neither may decrease.
  void move(Tick opening, Tick last);

  /// The value of the quantity of a term, by its number; std::nullopt for the largest value of no hits, and for a sum
  /// that is not a number.
  [[nodiscard]] std::optional<std::uint64_t> value(std::size_t term) const;

 private:
  /// All hits of one selection, in time order, and those that its window includes now.
  struct Selected {
    HitSelection selection;
    std::vector<SelectedHit> hits;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::span<const SelectedHit> now() const { return std::span(hits).subspan(begin, end - begin); }
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Measured {
    Quantity::Kind kind;
    std::size_t hits = kNone;   ///< place in selected_
    std::size_t later = kNone;  ///< likewise
  };

  std::size_t place_of(const HitSelection& selection);
  void select(const ChannelTable<GroupSet>& groups, const SortedHits& hits);

  std::vector<Selected> selected_;  ///< different ones
  std::vector<Measured> measured_;  ///< indexed by term; `hits` is kNone for other quantities
};

/// The value of a quantity that is measured on these hits, as terms compare it: see Quantity::Kind. std::nullopt for
/// the largest value of no hits, and for a sum that is not a number.
std::optional<std::uint64_t> value_of_selected(Quantity::Kind kind, std::span<const SelectedHit> hits,
                                               std::span<const SelectedHit> later);

}  // namespace eventloom
