#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eventloom {

/// Zeroed address space; only pages that were written take memory.
class SparseMemory {
 public:
  enum class Access { read, write };
  /// Throws std::runtime_error if the system refuses.
  SparseMemory(std::uint64_t bytes, Access access);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return {begin_, size_}; }
  [[nodiscard]] bool contains(std::span<const std::byte> part) const {
    return part.data() >= begin_ && part.data() < begin_ + size_;
  }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_;
};

}  // namespace eventloom
