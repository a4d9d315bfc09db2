#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Memory from MPI_Win_allocate, zeroed, locked for all ranks by MPI_Win_lock_all from construction to destruction;
/// both are collective. Displacements are in bytes.
class Window {
 public:
  Window(const Communicator& communicator, std::uint64_t bytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win handle() const { return handle_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  MPI_Win handle_ = MPI_WIN_NULL;
  std::span<std::byte> memory_;
};

}  // namespace eventloom
