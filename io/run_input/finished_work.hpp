#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/run_format/part_list.hpp"

namespace eventloom {

/// Where a writer continues.
struct WriterPlace {
  PartListPlace list;
  std::uint32_t next_segment = 0;
  std::uint64_t events = 0;                         ///< written so far
  std::map<std::string, std::uint32_t> next_files;  ///< numbers of list-mode files, by the extension of their names

  /// Continues after this part, too.
  void go_past(const PartInfo& part);
};

/// The finished work of an interrupted run.
struct FinishedWork {
  std::vector<FinishedPart> parts;
  std::map<std::uint32_t, WriterPlace> writers;
};

/// Reads only the lists of finished parts of an interrupted run. Throws UserError when one is damaged.
FinishedWork read_finished_work(const std::filesystem::path& run_file);

/// Those of its parts that have their final names: one that has not is not known to be on disk.
std::vector<FinishedPart> finished_parts(const std::filesystem::path& run_file);

}  // namespace eventloom
