#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Datagrams of TRB3 and TRB5 boards ("NetTrans"), as their hubs send them, each to its own port:
///
///    0 u32 size        size of the unit, bytes: this header and the subevents, without the padding at the end
///    4 u32 decoding    shows the byte order of these two words, as in formats/hld.hpp; boards send big-endian
///    8 subevents       as in an HLD event, each with its own byte order, padded to a multiple of 8
///      0..7            padding of the unit to a multiple of 8
///      trailer         32 bytes: the first 32 of the datagram again
///
/// The datagram ends with its trailer. The trigger number of a subevent is number << 8 | tag: the event number, which
/// has up to 24 bits and wraps around, and 8 random bits of the trigger system, which are equal for all boards.
namespace eventloom {

inline constexpr std::size_t kTrbUnitHeaderBytes = 8;
inline constexpr std::size_t kTrbTrailerBytes = 32;
inline constexpr std::uint32_t kTrbUnitDecoding = 0x00020011;
/// Maximum size of a UDP datagram.
inline constexpr std::size_t kTrbMostDatagramBytes = 65507;
inline constexpr unsigned kTrbTagBits = 8;
/// Id of an event that DABC builds of such data; bits 0-3 are the trigger type.
inline constexpr std::uint32_t kTrbEventId = 0x2001;

/// The subevents in a datagram; std::nullopt if it does not have this format.
std::optional<std::span<const std::byte>> read_trb_datagram(std::span<const std::byte> datagram);
/// Appends a datagram with these subevents. The datagram must not exceed kTrbMostDatagramBytes.
void append_trb_datagram(std::span<const std::byte> subevents, std::vector<std::byte>& out);

}  // namespace eventloom
