#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/event_files/event_file_info.hpp"

namespace eventloom {

/// A part file as run.h5 lists it.
struct PartInfo {
  std::string name;  ///< file name without folder
  std::uint32_t writer = 0;
  std::uint32_t segment = 0;
  std::uint64_t first_slice = 0;  ///< meaningless when `slices` is 0
  std::uint64_t last_slice = 0;
  std::uint64_t slices = 0;
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;                         ///< size of the file
  std::optional<std::uint32_t> datasets_sum = {};  ///< see seal.hpp; std::nullopt for parts of earlier versions
  std::vector<EventFileInfo> event_files = {};     ///< list-mode files beside it, with the same events
};

/// `<stem of run_file>.part-<writer, 4 digits>-<segment, 4 digits>.h5`
std::string part_name(const std::filesystem::path& run_file, std::uint32_t writer, std::uint32_t segment);

/// True when a text is a number as in the names of parts and of their lists.
bool is_part_number(std::string_view text);

/// True when an untrusted text is the name of a part of any run, without a path to another folder.
bool is_part_name(std::string_view name);

}  // namespace eventloom
