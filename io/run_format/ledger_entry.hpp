#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/event.hpp"

namespace eventloom {

/// One row of /ledger.
struct LedgerEntry {
  LedgerRow row;
  std::vector<std::uint32_t> sources_missing;
  std::uint64_t missing_mask = 0;
  std::string file;  ///< that it is in, of rows of several files
};

}  // namespace eventloom
