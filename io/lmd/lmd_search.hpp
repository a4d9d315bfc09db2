#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

/// Bytes that a reader examines at once when it has lost synchronisation: an event must begin in the first half, and
/// the event and the next header must lie within these bytes.
inline constexpr std::size_t kLmdSearchBytes = std::size_t{2} << 20;

/// Finds the first event after the start of `view`, in steps of 2 bytes. A header alone is not sufficient, since
/// subevent headers look the same: subevents must fill the event, another event or index or the end of the file must
/// follow, and the number must be plausible for a neighbour. `to_the_end`: the view ends at the end of the file.
/// `last_number`: number of the last event read.
std::optional<std::size_t> find_lmd_event(std::span<const std::byte> view, bool to_the_end,
                                          std::optional<std::uint32_t> last_number);

}  // namespace eventloom
