#include "core/transport/mpi_network.hpp"

#include "core/mpi/mpi_message_channel.hpp"
#include "core/mpi/window.hpp"
#include "core/transport/mpi_control_window.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

std::unique_ptr<Transport> MpiNetwork::open_window(std::uint64_t bytes) {
  return std::make_unique<MpiRmaTransport>(communicator_, bytes);
}

std::unique_ptr<Transport> MpiNetwork::open_control_window(std::uint64_t bytes) {
  return std::make_unique<MpiControlWindow>(communicator_, bytes);
}

std::vector<MemoryBound> MpiNetwork::memory_bounds() const { return window_bounds(); }

std::unique_ptr<MessageChannel> MpiNetwork::open_channel() {
  return std::make_unique<MpiMessageChannel>(communicator_);
}

}  // namespace eventloom
