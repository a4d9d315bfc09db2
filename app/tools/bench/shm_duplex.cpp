#include "app/tools/bench/shm_duplex.hpp"

#include "core/control/agreement.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kShmCells = 8;

}  // namespace

ShmDuplex::ShmDuplex(const Communicator& communicator, const DuplexSettings& settings) : Duplex(settings.wait) {
  const ShmRing::Shape shape{kShmCells, settings.largest};
  agree(communicator, [&] {
    if (settings.other) receiving_.emplace(shape);
  });
  const auto names = communicator.all_gather(receiving_ ? receiving_->name() : std::string());
  agree(communicator, [&] {
    if (settings.other) sending_.emplace(names[static_cast<std::size_t>(*settings.other)], shape);
  });
  if (receiving_) receiving_->forget_name();
}

bool ShmDuplex::send_complete(std::span<const std::byte> message) {
  send(message);
  return true;
}

}  // namespace eventloom
