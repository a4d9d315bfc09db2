#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/hld.hpp"

namespace eventloom {

/// What the hits of an HLD file do not keep of it. The header of the stream states it, so that the events can be
/// written as they were.
struct HldOrigin {
  std::uint32_t run = 0;              ///< number of the run, in the first event
  bool big_endian = true;             ///< most subevents
  std::vector<std::uint32_t> others;  ///< ids of those in the other byte order, rising

  [[nodiscard]] bool is_big_endian(std::uint32_t subevent_id) const;
};

/// From the first MiB of a file. Subevents of one id have one byte order.
HldOrigin find_hld_origin(const std::string& path);

/// Lines of text for the header of the stream.
std::string to_text(const HldOrigin& origin);
/// From a text that has those lines among others; nothing when it has not.
std::optional<HldOrigin> parse_hld_origin(std::string_view text);

}  // namespace eventloom
