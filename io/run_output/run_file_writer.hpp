#pragma once

#include <filesystem>
#include <span>

#include "io/run_format/part_info.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// Replaces run.h5 atomically: a reader sees either the old or the new file. The parts must be in the same folder;
/// their ledgers are merged. Throws UserError when it cannot be written, or a part is missing or not as listed.
void write_run_file(const std::filesystem::path& path, const RunRecord& record, std::span<const PartInfo> parts,
                    const RunStatistics& statistics = {});

}  // namespace eventloom
