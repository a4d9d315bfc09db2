#include "app/tools/align/align_units.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/detector/resolve_detector.hpp"

namespace eventloom {

AlignBy parse_align_by(std::string_view text) {
  if (text == "source") return AlignBy::source;
  if (text == "channel") return AlignBy::channel;
  if (text == "group") return AlignBy::group;
  throw std::invalid_argument("expected source, channel or group, not '" + std::string(text) + "'");
}

AlignUnits::AlignUnits(AlignBy by, const Detector& detector, std::vector<std::string> source_names)
    : by_(by), detector_(detector), sources_(std::move(source_names)) {}

void AlignUnits::see(std::uint16_t source, std::uint32_t channel) { ++seen_[{source, channel}]; }

std::optional<AlignUnits::Channel> AlignUnits::key_of(std::uint16_t source, std::uint32_t channel) const {
  if (by_ == AlignBy::channel) return Channel{source, channel};
  if (by_ == AlignBy::source) return Channel{source, 0};
  const GroupSet groups = detector_.at(source, channel).groups;
  if (groups == 0) return std::nullopt;
  return Channel{0, static_cast<std::uint32_t>(std::countr_zero(groups))};
}

std::string AlignUnits::name_of(const Channel& key) const {
  if (by_ == AlignBy::group) return detector_.groups().at(key.second);
  const auto& source = sources_.at(key.first);
  return by_ == AlignBy::source ? source : source + "/" + std::to_string(key.second);
}

void AlignUnits::number_units() {
  std::map<Channel, std::uint32_t> numbers;
  for (const auto& [channel, n] : seen_) {
    if (const auto key = key_of(channel.first, channel.second)) numbers.emplace(*key, 0);
  }
  for (auto& [key, number] : numbers) {
    number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(name_of(key));
  }
  hits_.assign(names_.size(), 0);
  units_.resize(sources_.size());
  for (const auto& [channel, n] : seen_) {
    const auto key = key_of(channel.first, channel.second);
    if (!key) continue;
    const auto unit = numbers.at(*key);
    units_[channel.first].emplace(channel.second, unit);
    hits_[unit] += n;
  }
}

std::optional<std::size_t> AlignUnits::find(std::string_view name) const {
  if (by_ == AlignBy::group) {
    const auto group = std::ranges::find(names_, name);
    return group == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(group - names_.begin()));
  }
  const auto slash = name.rfind('/');
  const bool has_channel = by_ == AlignBy::channel && slash != std::string_view::npos;
  const auto channel = has_channel ? name.substr(slash + 1) : std::string_view();
  const auto whole = selected_sources(std::string(name), sources_);
  const auto before_slash = has_channel ? selected_sources(std::string(name.substr(0, slash)), sources_) : whole;
  for (const auto& [seen, n] : seen_) {
    const bool is_of_channel =
        channel == std::to_string(seen.second) && std::ranges::binary_search(before_slash, seen.first);
    if (is_of_channel || std::ranges::binary_search(whole, seen.first)) return unit_of(seen.first, seen.second);
  }
  return std::nullopt;
}

std::vector<std::pair<std::uint16_t, std::uint32_t>> AlignUnits::channels(std::size_t unit) const {
  std::vector<Channel> all;
  for (const auto& [channel, n] : seen_) {
    if (unit_of(channel.first, channel.second) == unit) all.push_back(channel);
  }
  return all;
}

}  // namespace eventloom
