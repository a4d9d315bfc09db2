#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace eventloom {

/// Measured with 14 bytes a hit: between 0.25 and 4 MiB sequential writing and reading are about equally fast; random
/// access costs time in proportion to the chunk. Large enough for parallel file systems.
inline constexpr std::size_t kDefaultChunkBytes = std::size_t{512} << 10;

enum class ElementType { u16, u32, u64, i64, f64 };
constexpr std::size_t bytes_of(ElementType type) {
  return type == ElementType::u16 ? 2 : type == ElementType::u32 ? 4 : 8;
}

/// One one-dimensional dataset. Texts become attributes of the dataset; empty ones are omitted.
struct ColumnSpec {
  std::string path;
  ElementType type;
  std::string meaning;
  bool ticks = false;     ///< counts ticks, or event numbers: gets `units`, and `tick_ps`
  std::string bits = {};  ///< meaning of the bits of the number
  std::string units = {};
};

}  // namespace eventloom
