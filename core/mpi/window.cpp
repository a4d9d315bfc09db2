#include "core/mpi/window.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

namespace {

void require_unified_model(MPI_Win window) {
  int* model = nullptr;
  int found = 0;
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &found);
  if (found == 0 || *model != MPI_WIN_UNIFIED) {
    throw std::runtime_error("this MPI has no windows of the unified memory model, which the rings need");
  }
}

}  // namespace

Window::Window(const Communicator& communicator, std::uint64_t bytes) {
  void* base = nullptr;
  const auto size = static_cast<MPI_Aint>(bytes);
  const int made = MPI_Win_allocate(size, 1, MPI_INFO_NULL, communicator.handle(), static_cast<void*>(&base), &handle_);
  if (made != MPI_SUCCESS) {
    throw MemoryError("the rings need " + in_mebibytes(bytes) +
                      ", which MPI_Win_allocate failed to allocate: " + mpi_error_text(made));
  }
  MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN);
  require_unified_model(handle_);
  memory_ = {static_cast<std::byte*>(base), bytes};
  if (bytes != 0) std::memset(base, 0, bytes);
  mpi_check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_), "MPI_Win_lock_all");
  mpi_check(MPI_Win_sync(handle_), "MPI_Win_sync");
  // All ranks must have zeroed their memory before any rank puts.
  mpi_check_reached(MPI_Barrier(communicator.handle()), "MPI_Barrier", kAnyRank);
}

Window::~Window() {
  if (leaves_alone()) return;
  MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
}

}  // namespace eventloom
