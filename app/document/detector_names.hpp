#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "io/run_format/detector_record.hpp"

/// Names of sources and channels in the detector map, for axes and legends. Texts are as in the map.
namespace eventloom {

/// Returns the name that all channels of a source have in the map, or else the groups that all have; empty if they
/// share neither.
std::string source_label(const KnownChannels& known, std::uint32_t source);

/// Names of single channels by number, for axes that combine the channels of all sources. A channel whose name differs
/// between sources has none.
using ChannelNames = std::map<std::uint32_t, std::string>;
ChannelNames common_channel_names(const KnownChannels& known);

}  // namespace eventloom
