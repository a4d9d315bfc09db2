#pragma once

#include <cstdint>

#include "formats/ids.hpp"

namespace eventloom {

/// Slice n goes to builder n mod B.
struct ModuloAssignment {
  std::uint32_t n_builders = 1;

  [[nodiscard]] BuilderId builder_of(SliceId slice) const {
    return {static_cast<std::uint32_t>(slice.value % n_builders)};
  }
  [[nodiscard]] SliceId next_slice(BuilderId builder, SliceId from) const {
    const std::uint64_t place = from.value % n_builders;
    return {from.value - place + builder.value + (builder.value < place ? n_builders : 0)};
  }
};

}  // namespace eventloom
