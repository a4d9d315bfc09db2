#include "io/recorded/negative_time.hpp"

#include <algorithm>
#include <bit>

#include "core/runtime/format.hpp"

namespace eventloom {

std::string negative_time_advice(std::uint64_t size, unsigned column_bits, bool numbered) {
  constexpr unsigned kNarrowest = 16;
  constexpr unsigned kWidest = 63;
  auto bits = std::max(static_cast<unsigned>(std::bit_width(size - 1)) + 1, kNarrowest);
  if (column_bits != 0) bits = std::min(bits, column_bits);
  bits = std::min(bits, kWidest);
  if (numbered)
    return fmt::format("event numbers with a sign wrap around after so many bits as they have: bits={}", bits);
  return fmt::format(
      "say which time becomes tick 0, such as origin=-1ms, the same for all files of a run; or, if the times are a "
      "counter with a sign that starts again, its width: bits={}",
      bits);
}

}  // namespace eventloom
