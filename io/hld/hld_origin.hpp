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
  std::uint32_t run = 0;  ///< number of the run, in the first event

  // Of streams of earlier versions, whose hits keep no byte order: that of an id in the first MiB of the file.
  bool big_endian = true;                  ///< most subevents
  std::vector<std::uint32_t> others = {};  ///< ids of those in the other byte order, rising

  [[nodiscard]] bool is_big_endian(std::uint32_t subevent_id) const;
};

/// The run's number in the first event of a file; 0 where there is none.
std::uint32_t find_hld_run(const std::string& path);

/// A line of text for the header of the stream.
std::string hld_origin_text(std::uint32_t run);
/// From a text that has that line among others; nothing when it has not.
std::optional<HldOrigin> parse_hld_origin(std::string_view text);

}  // namespace eventloom
