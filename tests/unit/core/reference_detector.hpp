#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/detector/detector.hpp"
#include "expression_reference.hpp"

namespace eventloom::test {

/// A detector with the groups of the reference.
inline DetectorPtr reference_detector(std::size_t n_sources) {
  auto detector = std::make_shared<Detector>(n_sources);
  for (const auto& part : reference_groups()) {
    const auto group = detector->add_group(part.name);
    for (std::size_t s = 0; s < n_sources; ++s) {
      if (part.low > part.high || part.source.value_or(static_cast<std::uint16_t>(s)) != s) continue;
      const ChannelRange range{static_cast<std::uint16_t>(s), part.low, part.high};
      detector->change(range, [group](ChannelInfo& info) { info.groups |= GroupSet{1} << group; });
    }
  }
  return detector;
}

}  // namespace eventloom::test
