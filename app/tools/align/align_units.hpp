#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/detector/detector.hpp"

namespace eventloom {

/// The kind of unit that has its own offset.
enum class AlignBy : std::uint8_t { source, channel, group };
/// Throws std::invalid_argument for any other word.
AlignBy parse_align_by(std::string_view text);

/// Numbers the units that are aligned against each other, in the order of (source, channel) or of the groups, and
/// assigns hits to them. A hit in several groups belongs to the first of them.
class AlignUnits {
 public:
  /// `detector` must outlive this object. `source_names`: indexed by source number.
  AlignUnits(AlignBy by, const Detector& detector, std::vector<std::string> source_names);

  /// Counts a hit of the survey, from which number_units() makes the units.
  void see(std::uint16_t source, std::uint32_t channel);
  void number_units();

  /// The unit of a hit; std::nullopt if its channel is in no group, or was not seen.
  [[nodiscard]] std::optional<std::uint32_t> unit_of(std::uint16_t source, std::uint32_t channel) const {
    const auto& units = units_[source];
    const auto found = units.find(channel);
    return found == units.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::size_t size() const { return hits_.size(); }
  [[nodiscard]] std::uint64_t hits(std::size_t unit) const { return hits_[unit]; }
  /// Name for the user: "det0/17", "det0", "PMT".
  [[nodiscard]] const std::string& name(std::size_t unit) const { return names_[unit]; }
  /// The unit that the user names as SOURCE, SOURCE/CHANNEL or GROUP; sources as in the column of a map. Of several
  /// units, the first. std::nullopt if there is none with hits.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

  [[nodiscard]] AlignBy by() const { return by_; }
  /// The channels of a unit: (source, channel) for each channel with hits, ascending.
  [[nodiscard]] std::vector<std::pair<std::uint16_t, std::uint32_t>> channels(std::size_t unit) const;

 private:
  using Channel = std::pair<std::uint16_t, std::uint32_t>;

  /// Returns what distinguishes units: (source, channel), (source, 0) or (0, group).
  [[nodiscard]] std::optional<Channel> key_of(std::uint16_t source, std::uint32_t channel) const;
  [[nodiscard]] std::string name_of(const Channel& key) const;

  AlignBy by_;
  const Detector& detector_;
  std::vector<std::string> sources_;
  std::map<Channel, std::uint64_t> seen_;  ///< hits of each channel
  /// The unit of each channel that has one, indexed by source.
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> units_;
  std::vector<std::uint64_t> hits_;  ///< indexed by unit, as names_
  std::vector<std::string> names_;
};

}  // namespace eventloom
