#pragma once

#include <cstdint>
#include <optional>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The channel of all hits of an input without channels, by the key `fixed-channel`; std::nullopt if the key is absent.
/// Throws UserError when it is not a channel, or the URI also says where the channels are.
std::optional<std::uint32_t> fixed_channel(const SourceUri& uri);

}  // namespace eventloom
