#include "core/monitor/channel_counts.hpp"

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "formats/hash.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kSlotsAtFirst = 64;
/// Powers of two: this many successive channels of this many successive sources do not collide.
constexpr std::size_t kRecentChannels = 1024;
constexpr std::size_t kRecentSources = 16;

std::size_t recent_place(std::uint32_t source, std::uint32_t channel) {
  return source % kRecentSources * kRecentChannels + (channel ^ channel / kRecentChannels) % kRecentChannels;
}

std::uint64_t new_secret() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

ChannelCounts::ChannelCounts(Limits limits) : limits_(limits), secret_(new_secret()), slots_(kSlotsAtFirst) {}

void ChannelCounts::add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels) {
  recent_.resize(kRecentSources * kRecentChannels);
  auto* const recent = recent_.data();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint32_t source = sources[i];
    const std::uint32_t channel = channels[i];
    auto& row = recent[recent_place(source, channel)];
    if (row.channel != channel || row.source != source) [[unlikely]] {
      add(row);
      row = {source, channel, 0};
    }
    ++row.hits;
  }
}

void ChannelCounts::add(const ChannelRow& row) {
  if (row.hits != 0) rows_[row_of(row.source, row.channel)].hits += row.hits;
}

void ChannelCounts::gather() {
  for (auto& row : recent_) {
    add(row);
    row.hits = 0;
  }
}

std::size_t ChannelCounts::first_slot(std::uint32_t source, std::uint32_t channel) const {
  return splitmix64((std::uint64_t{source} << 32 | channel) ^ secret_) & (slots_.size() - 1);
}

std::uint32_t ChannelCounts::row_of(std::uint32_t source, std::uint32_t channel) {
  for (auto slot = first_slot(source, channel); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const auto& row = rows_[slots_[slot] - 1];
    if (row.source == source && row.channel == channel) return slots_[slot] - 1;
  }
  return add_row(source, channel);
}

std::uint32_t ChannelCounts::add_row(std::uint32_t source, std::uint32_t channel) {
  if (channel != ChannelRow::kOthers) {
    if (source >= channels_.size()) channels_.resize(source + std::size_t{1});
    const bool full = channels_[source] >= limits_.of_source || n_channels_ >= limits_.of_all;
    if (full) return row_of(source, ChannelRow::kOthers);
    ++channels_[source];
    ++n_channels_;
  }
  rows_.push_back({source, channel, 0});
  if (4 * rows_.size() > slots_.size()) {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t row = 0; row + 1 < rows_.size(); ++row) insert(row);
  }
  const auto row = static_cast<std::uint32_t>(rows_.size() - 1);
  insert(row);
  return row;
}

void ChannelCounts::insert(std::uint32_t row) {
  auto slot = first_slot(rows_[row].source, rows_[row].channel);
  while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = row + 1;
}

std::vector<ChannelRow> ChannelCounts::take(std::size_t most) {
  gather();
  std::vector<ChannelRow> taken;
  for (auto left = rows_.size(); left > 0 && taken.size() < most; --left) {
    auto& row = rows_[next_];
    next_ = (next_ + 1) % rows_.size();
    if (row.hits == 0) continue;
    taken.push_back(row);
    row.hits = 0;
  }
  return taken;
}

std::vector<ChannelRow> ChannelCounts::rows() const {
  auto all = *this;
  all.gather();
  return std::move(all.rows_);
}

std::vector<std::uint64_t> ChannelCounts::of_sources() const {
  std::vector<std::uint64_t> sums;
  for (const auto& row : rows()) {
    if (row.source >= sums.size()) sums.resize(row.source + std::size_t{1});
    sums[row.source] += row.hits;
  }
  return sums;
}

std::vector<ChannelCounts::OfSource> ChannelCounts::busiest(std::size_t most) const {
  auto rows = this->rows();
  std::ranges::sort(rows, {}, [](const ChannelRow& row) { return std::tuple(row.source, ~row.hits, row.channel); });
  std::vector<OfSource> found;
  for (const auto& row : rows) {
    if (found.empty() || found.back().source != row.source) found.push_back({row.source, {}, 0});
    auto& of = found.back();
    if (row.channel == ChannelRow::kOthers || of.channels.size() == most) {
      of.others += row.hits;
    } else {
      of.channels.emplace_back(row.channel, row.hits);
    }
  }
  for (auto& of : found) std::ranges::sort(of.channels);
  return found;
}

}  // namespace eventloom
