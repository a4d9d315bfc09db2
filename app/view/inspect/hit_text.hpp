#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/event_files/event_items.hpp"

namespace eventloom {

/// Text that `inspect` prints for a hit: the event and subevent that it stands for, as in `mbsprint` and `hldprint`,
/// or the hit itself.
struct HitText {
  bool stands_for_event = false;
  std::uint32_t number = 0;      ///< number in the event header; the next two members also describe the event
  std::string event = {};        ///< example: "trigger 1"
  std::uint64_t head_bytes = 0;  ///< size of the event header
  bool has_item = true;          ///< false: the event has no subevents
  std::string item = {};         ///< example: "control 0  crate 7  procid 2  type 10/1  bytes 20", or
                                 ///< "channel 0x0070002"
  std::uint64_t item_bytes = 0;  ///< size of the subevent within its event
  std::span<const std::uint32_t> words = {};  ///< data of the subevent, or payload of the hit
};

HitText text_of_hit(const HitOrigin& origin, std::uint32_t channel, std::span<const std::uint32_t> payload);

}  // namespace eventloom
