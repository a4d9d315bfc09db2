#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/detector/detector.hpp"

namespace eventloom {

/// Records which of the channels that a detector selects have had hits.
///
/// Costs nothing once all have: only channels without hits are searched for. A selection of a whole source also has
/// channels that never have hits; so that this costs little, the last channels with hits are known without a search.
/// `detector` must outlive it.
class ChannelUse {
 public:
  explicit ChannelUse(const Detector& detector);

  /// Records hits of one source, given by their channels.
  void see(std::uint16_t source, std::span<const std::uint32_t> channels) {
    const auto& of = sources_[source];
    if (of.first == of.end) return;
    for (const auto channel : channels) {
      if (channel - of.low <= of.span && of.lately[channel % kLately] != channel) mark(source, channel);
    }
  }
  /// Records hits of several sources.
  void see(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);

  /// A bit for each piece of the detector, source by source.
  [[nodiscard]] std::span<const std::uint64_t> bits() const { return seen_; }
  /// Adds the bits of another object for the same detector.
  void add(std::span<const std::uint64_t> bits);

  /// Indices in Detector::selections() of those without hits, ascending.
  [[nodiscard]] std::vector<std::size_t> unused_selections() const;
  /// The groups whose channels have had hits.
  [[nodiscard]] GroupSet used_groups() const;

 private:
  /// The pieces from `first` up to `end` include all selected ones that have had no hit.
  struct OfSource {
    std::size_t first_bit = 0;
    std::size_t first = 0;
    std::size_t end = 0;
    std::uint32_t low = 0;              ///< first channel of these pieces
    std::uint32_t span = 0;             ///< last channel minus `low`
    std::vector<std::uint32_t> lately;  ///< kLately channels that have had hits, by their low bits; no channel: ~0
  };

  static constexpr std::size_t kLately = 1024;

  [[nodiscard]] bool wanted(std::size_t bit) const { return (selected_[bit / 64] & ~seen_[bit / 64]) >> bit % 64 & 1U; }
  [[nodiscard]] bool seen(std::size_t bit) const { return (seen_[bit / 64] >> bit % 64 & 1U) != 0; }
  void mark(std::uint16_t source, std::uint32_t channel);
  void close_in(std::uint16_t source);
  template <class Use>
  bool any_piece(const DetectorSelection& selection, Use use) const;

  const Detector* detector_;
  std::vector<OfSource> sources_;
  std::vector<std::uint64_t> selected_;  ///< indexed by piece
  std::vector<std::uint64_t> seen_;      ///< likewise
};

}  // namespace eventloom
