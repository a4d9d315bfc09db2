#include "app/tools/bench/duplex.hpp"

namespace eventloom {

void Duplex::send(std::span<const std::byte> message) {
  while (!try_send(message)) pause();
}

std::span<const std::byte> Duplex::receive() {
  while (true) {
    if (const auto message = poll()) return *message;
    pause();
  }
}

}  // namespace eventloom
