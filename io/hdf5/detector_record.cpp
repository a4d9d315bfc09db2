#include "io/hdf5/detector_record.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace eventloom {

ChannelNames::ChannelNames(const std::vector<DetectorRange>& ranges) {
  for (const auto& range : ranges) {
    if (!range.name.empty()) named_.push_back(range);
  }
  std::ranges::sort(named_, {}, [](const DetectorRange& r) { return std::tuple(r.source, r.first_channel); });
}

const std::string& ChannelNames::of(std::uint32_t source, std::uint32_t channel) const {
  static const std::string none;
  const auto next = std::ranges::upper_bound(named_, std::tuple(source, channel), {}, [](const DetectorRange& r) {
    return std::tuple(r.source, r.first_channel);
  });
  if (next == named_.begin()) return none;
  const auto& range = *std::prev(next);
  return range.source == source && channel <= range.last_channel ? range.name : none;
}

}  // namespace eventloom
