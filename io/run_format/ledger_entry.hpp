#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/event.hpp"

namespace eventloom {

/// A row of /ledger.
struct LedgerEntry {
  LedgerRow row;
  std::vector<std::uint32_t> sources_missing;
  std::uint64_t missing_mask = 0;
  std::string file;  ///< the row's file, when rows of several files are merged
};

}  // namespace eventloom
