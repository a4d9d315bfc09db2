#pragma once

#include <string>

#include "core/control/collective.hpp"

namespace eventloom {

/// The contents of the file that `schedule`, as in `--schedule`, names; empty for a schedule without a file. Throws
/// UserError.
std::string schedule_table_text(const std::string& schedule);
/// Collective. Rank 0 reads the file, for all ranks; when it cannot, all throw the same UserError.
std::string schedule_table_text(const std::string& schedule, const Collective& ranks);

}  // namespace eventloom
