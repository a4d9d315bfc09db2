#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace eventloom {

/// Throws when an MPI call failed. Communicators and windows return errors instead of aborting, so
/// that the message can say what was being done.
inline void mpi_check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace eventloom
