#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace eventloom {

/// Hits by source and channel, in bounded memory (64 MB): channels are counted in pages of 1024, and after 8192 pages
/// the hits of channels on others are counted together.
class ChannelCounts {
 public:
  using Channel = std::pair<std::uint32_t, std::uint64_t>;  // number, hits

  /// As many of each.
  void add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);

  /// Hits of each source up to the last that has any.
  [[nodiscard]] const std::vector<std::uint64_t>& of_sources() const { return of_sources_; }
  /// The channels of a source that have most hits, at most `most`, in rising order of their numbers.
  [[nodiscard]] std::vector<Channel> busiest(std::uint16_t source, std::size_t most) const;

 private:
  static constexpr std::size_t kPageChannels = 1024;
  static constexpr std::size_t kMostPages = 8192;
  using Page = std::array<std::uint64_t, kPageChannels>;

  Page* page_of(std::uint64_t key);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  ///< by source and upper bits of the channel
  std::vector<std::uint64_t> of_sources_;
};

}  // namespace eventloom
