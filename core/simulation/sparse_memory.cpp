#include "core/simulation/sparse_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace eventloom {

SparseMemory::SparseMemory(std::uint64_t bytes, Access access) : size_(bytes) {
  if (size_ == 0) return;
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* at = mmap(nullptr, size_, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    throw std::runtime_error("cannot reserve " + std::to_string(size_ >> 20) +
                             " MiB of address space: " + std::generic_category().message(errno));
  }
  // Few bytes are written, far apart: huge pages would fill the memory.
  madvise(at, size_, MADV_NOHUGEPAGE);
  begin_ = static_cast<std::byte*>(at);
}

SparseMemory::~SparseMemory() {
  if (begin_ != nullptr) munmap(begin_, size_);
}

}  // namespace eventloom
