#pragma once

#include <string>

#include "core/control/collective.hpp"

namespace eventloom {

/// Returns the contents of the file that `schedule` names, as in `--schedule`; empty for a schedule without a file.
/// Throws UserError.
std::string schedule_table_text(const std::string& schedule);
/// Collective. Rank 0 reads the file for all ranks. If it cannot, all ranks throw the same UserError.
std::string schedule_table_text(const std::string& schedule, const Collective& ranks);

}  // namespace eventloom
