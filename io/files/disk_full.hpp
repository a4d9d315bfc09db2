#pragma once

#include <cerrno>

#include "core/runtime/error.hpp"

namespace eventloom {

/// Whether an errno means that a disk, or a user's share of it, is full.
constexpr bool means_full(int error) { return error == ENOSPC || error == EDQUOT; }

/// A file could not be written because its disk is full.
class DiskFull : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace eventloom
