#include "app/tools/align/align_units.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

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
  const auto& info = detector_.at(source, channel);
  if (info.masked) return std::nullopt;
  if (by_ == AlignBy::channel) return Channel{source, channel};
  if (by_ == AlignBy::source) return Channel{source, 0};
  if (info.groups == 0) return std::nullopt;
  return Channel{0, static_cast<std::uint32_t>(std::countr_zero(info.groups))};
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
  const auto named = std::ranges::find(names_, name);
  if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
  const auto slash = by_ == AlignBy::channel ? name.rfind('/') : std::string_view::npos;
  const auto source = name.substr(0, slash);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    if (source != std::to_string(s)) continue;
    const auto full = sources_[s] + (slash == std::string_view::npos ? "" : std::string(name.substr(slash)));
    const auto numbered = std::ranges::find(names_, full);
    if (numbered != names_.end()) return static_cast<std::size_t>(numbered - names_.begin());
  }
  if (by_ != AlignBy::channel || slash != std::string_view::npos) return std::nullopt;
  const auto first =
      std::ranges::find_if(names_, [&](const auto& of) { return of.starts_with(std::string(name) + "/"); });
  return first == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(first - names_.begin()));
}

std::vector<std::pair<std::uint16_t, std::uint32_t>> AlignUnits::channels(std::size_t unit) const {
  std::vector<Channel> all;
  for (const auto& [channel, n] : seen_) {
    if (unit_of(channel.first, channel.second) == unit) all.push_back(channel);
  }
  return all;
}

}  // namespace eventloom
