#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

/// Bytes that a reader examines at once when it has lost synchronisation: an event must begin in the first half, and it
/// and the next header must lie in the whole.
inline constexpr std::size_t kLmdSearchBytes = std::size_t{2} << 20;

/// The first place after the start of `view` at which an event begins, in steps of 2 bytes. A header alone does not
/// make an event, for those of subevents look the same: its subevents must fill it, another event or the end of the
/// file must follow, and the numbers must rise as those of neighbours do. `to_the_end`: the view ends where the file
/// ends. `last_number`: of the last event read.
std::optional<std::size_t> find_lmd_event(std::span<const std::byte> view, bool to_the_end,
                                          std::optional<std::uint32_t> last_number);

}  // namespace eventloom
