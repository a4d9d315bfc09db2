#include "core/transport/mpi_control_window.hpp"

#include <mpi.h>

#include <cstring>
#include <stdexcept>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/mpi/mpi_message_channel.hpp"

namespace eventloom {

MpiControlWindow::MpiControlWindow(const Communicator& communicator, std::uint64_t window_bytes)
    : communicator_(communicator),
      near_(communicator, window_bytes),
      sent_(static_cast<std::size_t>(communicator.size())) {
  if (!near_.all_near()) far_ = std::make_unique<MpiMessageChannel>(communicator);
}

MpiControlWindow::~MpiControlWindow() {
  if (far_ && !leaves_alone()) receive_rest();
}

/// Collective: a channel must be empty when it is closed.
void MpiControlWindow::receive_rest() {
  std::uint64_t expected = 0;
  MPI_Reduce_scatter_block(sent_.data(), &expected, 1, MPI_UINT64_T, MPI_SUM, communicator_.handle());
  while (received_ < expected) {
    if (far_->receive(message_)) ++received_;
  }
}

// A message is the offset and the data.
void MpiControlWindow::start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) {
  if (is_near(rank)) return near_.put(rank, offset, data);
  message_.resize(sizeof offset + data.size());
  std::memcpy(message_.data(), &offset, sizeof offset);
  std::memcpy(message_.data() + sizeof offset, data.data(), data.size());
  far_->send(rank, message_);
  ++sent_[static_cast<std::size_t>(rank)];
}

void MpiControlWindow::complete_puts(int rank) {
  if (is_near(rank)) near_.flush(rank);
}

void MpiControlWindow::progress() {
  if (!far_) return;
  while (const auto sender = far_->receive(message_)) {
    ++received_;
    std::uint64_t offset = 0;
    if (message_.size() < sizeof offset) throw std::runtime_error("exchange: a control message has no offset");
    const std::size_t bytes = message_.size() - sizeof offset;
    std::memcpy(&offset, message_.data(), sizeof offset);
    if (offset > window().size() || bytes > window().size() - offset) {
      throw std::runtime_error("exchange: rank " + std::to_string(*sender) + " sent " + std::to_string(bytes) +
                               " bytes for offset " + std::to_string(offset) + " of a control window of " +
                               std::to_string(window().size()) + " bytes");
    }
    std::memcpy(window().data() + offset, message_.data() + sizeof offset, bytes);
  }
  far_->progress();
}

}  // namespace eventloom
