#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace eventloom {

/// Measured with 14 bytes per hit: sequential reading and writing are about equally fast from 0.25 to 4 MiB; random
/// access takes time proportional to the chunk. Large enough for parallel file systems.
inline constexpr std::size_t kDefaultChunkBytes = std::size_t{512} << 10;

enum class ElementType { u16, u32, u64, i64, f64 };
constexpr std::size_t bytes_of(ElementType type) {
  return type == ElementType::u16 ? 2 : type == ElementType::u32 ? 4 : 8;
}

/// Describes a one-dimensional dataset. Texts become its attributes; empty ones are omitted.
struct ColumnSpec {
  std::string path;
  ElementType type;
  std::string meaning;
  bool ticks = false;     ///< counts ticks or event numbers: gets `units`, and ticks also `tick_ps`
  std::string bits = {};  ///< meaning of the number's bits
  std::string units = {};
};

}  // namespace eventloom
