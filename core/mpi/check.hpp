#pragma once

#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>

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

}  // namespace eventloom
