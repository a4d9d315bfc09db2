#include "core/detector/detector.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace eventloom {

namespace {

Tick size_of(std::int64_t offset) {
  return offset < 0 ? Tick{0} - static_cast<Tick>(offset) : static_cast<Tick>(offset);
}

}  // namespace

std::size_t Detector::add_group(std::string_view name) {
  if (const auto known = group(name)) return *known;
  if (groups_.size() == kMaxGroups) throw std::length_error("more than " + std::to_string(kMaxGroups) + " groups");
  groups_.emplace_back(name);
  return groups_.size() - 1;
}

std::optional<std::size_t> Detector::group(std::string_view name) const {
  const auto found = std::ranges::find(groups_, name);
  if (found == groups_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - groups_.begin());
}

std::size_t Detector::split(Pieces& pieces, std::uint32_t low) {
  if (pieces.empty()) pieces.emplace_back();
  const auto next = std::ranges::upper_bound(pieces, low, {}, &Piece::low);
  const auto at = next - pieces.begin() - 1;
  if (pieces[static_cast<std::size_t>(at)].low == low) return static_cast<std::size_t>(at);
  pieces.insert(next, {low, pieces[static_cast<std::size_t>(at)].info});
  return static_cast<std::size_t>(at) + 1;
}

void Detector::divide(std::uint16_t source, std::span<const std::uint32_t> lows) {
  Pieces pieces{Piece{}};
  for (const auto low : lows) {
    if (low > pieces.back().low && low <= kLastChannel) pieces.push_back({low, {}});
  }
  sources_.at(source) = std::move(pieces);
}

std::size_t Detector::piece_of(std::uint16_t source, std::uint32_t channel) const {
  const auto& pieces = sources_.at(source);
  return static_cast<std::size_t>(std::ranges::upper_bound(pieces, channel, {}, &Piece::low) - pieces.begin()) - 1;
}

const ChannelInfo& Detector::at(std::uint16_t source, std::uint32_t channel) const {
  static const ChannelInfo unknown;
  if (source >= sources_.size() || sources_[source].empty()) return unknown;
  const auto& pieces = sources_[source];
  return std::ranges::upper_bound(pieces, channel, {}, &Piece::low)[-1].info;
}

bool Detector::any(bool (*is)(const ChannelInfo&)) const {
  const auto any_of = [is](const Pieces& pieces) { return std::ranges::any_of(pieces, is, &Piece::info); };
  return std::ranges::any_of(sources_, any_of);
}

bool Detector::corrects() const {
  return any([](const ChannelInfo& info) { return info.offset != 0 || info.masked || info.cut; });
}

bool Detector::has_positions() const {
  return any([](const ChannelInfo& info) { return info.position.has_value(); });
}

bool Detector::calibrates() const {
  return any([](const ChannelInfo& info) { return info.calibrated; });
}

std::string Detector::unit() const {
  std::optional<std::string> common;
  for (const auto& pieces : sources_) {
    for (const auto& piece : pieces) {
      if (!piece.info.calibrated) continue;
      if (common && *common != piece.info.unit) return {};
      common = piece.info.unit;
    }
  }
  return common.value_or("");
}

Tick Detector::longest_dead_time() const {
  Tick longest = 0;
  for (const auto& pieces : sources_) {
    for (const auto& piece : pieces) longest = std::max(longest, piece.info.dead_time);
  }
  return longest;
}

Tick Detector::largest_offset() const {
  Tick largest = 0;
  for (const auto& pieces : sources_) {
    for (const auto& piece : pieces) largest = std::max(largest, size_of(piece.info.offset));
  }
  return largest;
}

}  // namespace eventloom
