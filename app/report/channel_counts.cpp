#include "app/report/channel_counts.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

std::uint64_t key_of(std::uint16_t source, std::uint32_t channel) {
  return std::uint64_t{source} << 32 | channel / 1024;
}

}  // namespace

ChannelCounts::Page* ChannelCounts::page_of(std::uint64_t key) {
  const auto found = pages_.find(key);
  if (found != pages_.end()) return found->second.get();
  if (pages_.size() >= kMostPages) return nullptr;
  return pages_.emplace(key, std::make_unique<Page>()).first->second.get();
}

void ChannelCounts::add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels) {
  static_assert(kPageChannels == 1024, "key_of() divides by it");
  std::uint64_t last_key = std::numeric_limits<std::uint64_t>::max();
  Page* page = nullptr;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] >= of_sources_.size()) of_sources_.resize(sources[i] + std::size_t{1});
    ++of_sources_[sources[i]];
    const auto key = key_of(sources[i], channels[i]);
    if (key != last_key) page = page_of(key);
    last_key = key;
    if (page != nullptr) ++(*page)[channels[i] % kPageChannels];
  }
}

std::vector<ChannelCounts::Channel> ChannelCounts::busiest(std::uint16_t source, std::size_t most) const {
  std::vector<Channel> found;
  for (const auto& [key, page] : pages_) {
    if (key >> 32 != source) continue;
    for (std::size_t i = 0; i < kPageChannels; ++i) {
      const auto channel = static_cast<std::uint32_t>((key & 0xffffffff) * kPageChannels + i);
      if ((*page)[i] != 0) found.emplace_back(channel, (*page)[i]);
    }
  }
  if (found.size() > most) {
    std::ranges::sort(found, [](const Channel& a, const Channel& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    found.resize(most);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace eventloom
