#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/hld.hpp"

namespace eventloom {

/// Properties of an HLD file that its hits do not record. The stream header records them, so that the original events
/// can be written.
struct HldOrigin {
  std::uint32_t run = 0;  ///< run number in the first event

  // Byte order by id in the file's first MiB, for streams of earlier versions, whose hits do not record it.
  bool big_endian = true;                  ///< byte order of most subevents
  std::vector<std::uint32_t> others = {};  ///< ids of subevents in the other byte order, ascending

  [[nodiscard]] bool is_big_endian(std::uint32_t subevent_id) const;
};

/// Run number in the first event of a file; 0 if there is none.
std::uint32_t find_hld_run(const std::string& path);

/// Line for the stream header.
std::string hld_origin_text(std::uint32_t run);
/// Parses a text that contains that line; std::nullopt if it does not.
std::optional<HldOrigin> parse_hld_origin(std::string_view text);

}  // namespace eventloom
