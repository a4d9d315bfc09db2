#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// A finished list-mode file of a run.
struct EventFileInfo {
  std::string name;          ///< name without the folder
  std::uint32_t number = 0;  ///< number among the files of its writer and format, from 0
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

}  // namespace eventloom
