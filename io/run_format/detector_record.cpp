#include "io/run_format/detector_record.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

namespace eventloom {

namespace {

auto begin_of(const DetectorRange& range) { return std::tuple(range.source, range.first_channel); }

}  // namespace

bool DetectorRange::cut() const { return std::isfinite(min_payload) || std::isfinite(max_payload); }

bool DetectorRange::has_position() const {
  return std::isfinite(position.x) && std::isfinite(position.y) && std::isfinite(position.z);
}

std::vector<std::string_view> group_names(std::string_view joined) {
  std::vector<std::string_view> names;
  while (!joined.empty()) {
    const auto end = std::min(joined.find(';'), joined.size());
    if (end != 0) names.push_back(joined.substr(0, end));
    joined.remove_prefix(std::min(end + 1, joined.size()));
  }
  return names;
}

KnownChannels::KnownChannels(const DetectorRecord& record)
    : empty_(record.empty()), file_(record.file), ranges_(record.ranges) {
  std::ranges::sort(ranges_, {}, begin_of);
  std::set<std::string, std::less<>> names;
  for (const auto& range : ranges_) {
    for (const auto name : group_names(range.groups)) {
      if (!names.contains(name)) names.emplace(name);
    }
  }
  groups_.assign(names.begin(), names.end());
}

std::size_t KnownChannels::place_of(std::uint32_t source, std::uint32_t channel) const {
  const auto next = std::ranges::upper_bound(ranges_, std::tuple(source, channel), {}, begin_of);
  if (next == ranges_.begin()) return ranges_.size();
  const auto found = std::prev(next);
  const bool holds = found->source == source && channel <= found->last_channel;
  return holds ? static_cast<std::size_t>(found - ranges_.begin()) : ranges_.size();
}

const DetectorRange* KnownChannels::at(std::uint32_t source, std::uint32_t channel) const {
  const auto place = place_of(source, channel);
  return place < ranges_.size() ? &ranges_[place] : nullptr;
}

const std::string& KnownChannels::name_of(std::uint32_t source, std::uint32_t channel) const {
  static const std::string none;
  const auto* range = at(source, channel);
  return range == nullptr ? none : range->name;
}

std::vector<std::size_t> KnownChannels::groups_of(const DetectorRange& range) const {
  std::vector<std::size_t> numbers;
  for (const auto name : group_names(range.groups)) {
    numbers.push_back(static_cast<std::size_t>(std::ranges::lower_bound(groups_, name) - groups_.begin()));
  }
  return numbers;
}

}  // namespace eventloom
