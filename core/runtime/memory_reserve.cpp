#include "core/runtime/memory_reserve.hpp"

#include <atomic>
#include <cstddef>
#include <new>

namespace eventloom {

namespace {

/// So much malloc takes from the system by itself, and returns at once. Untouched, it is no resident memory.
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
