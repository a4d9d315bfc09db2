#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

inline constexpr unsigned kSubsystemShift = 16;     ///< bits 21..16 of a channel id are its subsystem
inline constexpr unsigned kSystemShift = 22;        ///< bits 27..22 are its system
inline constexpr std::uint32_t kSystemMask = 0x3f;  ///< bits of a system or a subsystem
inline constexpr std::uint32_t kChannelMask = 0xffff;

/// Returns a channel as people read it: system/subsystem/channel, "1/2/3"; the channel alone, "3", in subsystem 0 of
/// system 0. The page has the same function, channelText() in format.js.
inline std::string channel_text(std::uint32_t id) {
  auto channel = std::to_string(id & kChannelMask);
  if (id >> kSubsystemShift == 0) return channel;
  return std::to_string(id >> kSystemShift & kSystemMask) + '/' + std::to_string(id >> kSubsystemShift & kSystemMask) +
         '/' + channel;
}

}  // namespace eventloom
