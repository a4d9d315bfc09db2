#include "core/runtime/memory_reserve.hpp"

#include <atomic>
#include <cstddef>
#include <new>

namespace eventloom {

namespace {

/// Until keep_freed_memory() is called, malloc maps blocks of this size directly, and unmaps them when freed.
/// Untouched, the reserve is not resident.
constexpr std::size_t kReserve = std::size_t{1} << 20;

std::atomic<std::byte*> reserve{nullptr};

[[noreturn]] void give_back_reserve() {
  delete[] reserve.exchange(nullptr);
  throw std::bad_alloc();
}

}  // namespace

void keep_memory_reserve() {
  delete[] reserve.exchange(new std::byte[kReserve]);
  std::set_new_handler(give_back_reserve);
}

}  // namespace eventloom
