#include "schedulers/balanced.hpp"

namespace eventloom {

std::optional<BuilderId> Balanced::assign(std::span<const std::uint32_t> room) const {
  const std::size_t first = book_.last() ? book_.last()->value + 1 : 0;
  std::optional<BuilderId> most;
  for (std::size_t i = 0; i < room.size(); ++i) {
    const auto b = static_cast<std::uint32_t>((first + i) % room.size());
    if (room[b] > (most ? room[most->value] : 0)) most = BuilderId{b};
  }
  return most;
}

}  // namespace eventloom
