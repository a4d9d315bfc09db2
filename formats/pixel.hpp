#pragma once

#include <cstdint>
#include <optional>

namespace eventloom {

/// A pixel of a camera with several chips.
struct Pixel {
  std::uint32_t chip = 0;  ///< system and subsystem of the channel
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

/// The pixel of a channel of a stream whose header has the flag kPixels: the chip is its subsystem, its number 256 y +
/// x. std::nullopt for subsystem 63, whose channels are not pixels.
constexpr std::optional<Pixel> pixel_of(std::uint32_t channel) {
  constexpr std::uint32_t kNoChip = 63;
  const std::uint32_t chip = channel >> 16;
  if ((chip & kNoChip) == kNoChip) return std::nullopt;
  return Pixel{chip, channel & 0xffU, channel >> 8 & 0xffU};
}

}  // namespace eventloom
