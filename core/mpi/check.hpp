#pragma once

#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "core/runtime/unreachable_rank.hpp"

namespace eventloom {

inline std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// Throws if an MPI call failed. Communicators and windows return errors instead of aborting, so that the message can
/// name the operation.
inline void mpi_check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + mpi_error_text(code));
}

/// Likewise, for a call that needs `rank`, or any other rank if it is kAnyRank. It fails when a connection has failed;
/// Open MPI reports no more specific error.
inline void mpi_check_reached(int code, const char* what, int rank) {
  if (code == MPI_SUCCESS) return;
  throw UnreachableRank(rank, std::string(what) + ": " + mpi_error_text(code));
}

}  // namespace eventloom
