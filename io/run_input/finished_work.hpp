#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/run_format/part_list.hpp"

namespace eventloom {

/// Position at which a writer continues.
struct WriterPlace {
  PartListPlace list;
  std::uint32_t next_segment = 0;
  std::uint64_t events = 0;                         ///< events written so far
  std::map<std::string, std::uint32_t> next_files;  ///< next number of a list-mode file, by file name extension

  /// Also continues after this part.
  void go_past(const PartInfo& part);
};

/// The finished work of an interrupted run.
struct FinishedWork {
  std::vector<FinishedPart> parts;
  std::map<std::uint32_t, WriterPlace> writers;
};

/// Reads only the lists of finished parts of an interrupted run. Throws UserError when a list is damaged.
FinishedWork read_finished_work(const std::filesystem::path& run_file);

/// Its parts that have their final names; others may not be on disk yet.
std::vector<FinishedPart> finished_parts(const std::filesystem::path& run_file);

}  // namespace eventloom
