#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

/// Memory from MPI_Win_allocate, zeroed, locked for all ranks by MPI_Win_lock_all from construction to destruction;
/// both are collective. Displacements are in bytes. Throws UserError on all ranks if /dev/shm, where MPI keeps it, has
/// too little space.
class Window {
 public:
  Window(const Communicator& communicator, std::uint64_t bytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win handle() const { return handle_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  /// Whether ranks of the same host copy into this memory: it is mapped by several processes, and MPI may use that.
  [[nodiscard]] bool is_shared() const;

 private:
  void fill(const Communicator& communicator);

  MPI_Win handle_ = MPI_WIN_NULL;
  std::span<std::byte> memory_;
};

/// Bounds on the windows of this rank: the memory of its host and process, and the space in /dev/shm if MPI keeps them
/// there.
std::vector<MemoryBound> window_bounds();

}  // namespace eventloom
