#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/neighbours.hpp"
#include "core/detector/channel_table.hpp"

namespace eventloom {

/// cluster:DT,DR[,M] - hits are neighbours if their times differ by at most DT and their positions by at most DR; a
/// connected set of at least M hits is an event. Events may overlap in time; they are ordered by their first hits.
///
/// Positions are those of the detector. Without any, channels are pixels (formats/pixel.hpp), and DR is in pixels. A
/// hit without a position has no neighbours.
///
/// Sets longer than the overlap are cut: an event begins at each hit to which no earlier hit is connected through hits
/// up to an overlap later; it has the hits connected with it in that time. Whether a hit begins an event therefore
/// depends on hits near it alone, and is the same in all slices.
class Cluster final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "cluster:DT,DR[,M]";
  static constexpr std::string_view kEvent =
      "connected hits, at least M: neighbours differ by at most DT in time and DR in position (metres, or with a unit, "
      "as "
      "in 5mm; pixels without positions in the map)";
  static constexpr std::size_t kMinValues = 2;
  static constexpr std::size_t kMaxValues = 3;

  explicit Cluster(const DefinitionValues& values);

  [[nodiscard]] std::string text() const override;
  [[nodiscard]] DefinitionTraits traits() const override;
  void find(const SortedHits& hits, EventList& events) const override;

 private:
  [[nodiscard]] std::vector<PlacedKey> place(const SortedHits& hits) const;

  Neighbourhood near_;
  std::string length_;  ///< DR as the user wrote it, if it carries a unit
  std::uint64_t min_hits_;
  DetectorPtr detector_;
  bool pixels_;                              ///< positions are pixels
  ChannelTable<const Position*> positions_;  ///< null: none
};

}  // namespace eventloom
