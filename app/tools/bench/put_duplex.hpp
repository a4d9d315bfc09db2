#pragma once

#include <array>
#include <optional>
#include <vector>

#include "app/tools/bench/duplex.hpp"
#include "core/mpi/communicator.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

/// MPI_Put and MPI_Win_flush into cells of the other end's window, which polls the number after each message. A small
/// message and its number go in one put; a receiver could see the number first on a network that reorders the bytes of
/// a put, so this serves as a lower bound for comparisons and is not a protocol.
class PutDuplex final : public Duplex {
 public:
  PutDuplex(const Communicator& communicator, const DuplexSettings& settings);

  bool try_send(std::span<const std::byte> message) override;
  bool send_complete(std::span<const std::byte> message) override;
  std::optional<std::span<const std::byte>> poll() override;
  void release() override;
  void flush() override { transport_.flush_all(); }

 private:
  /// Follows each message in its cell, which the message fills from the end.
  struct Trailer {
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;  ///< the message's number, from 1
  };

  void progress() override;
  [[nodiscard]] std::uint64_t trailer_offset(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t loaded(std::uint64_t offset);

  std::uint64_t body_bytes_;  ///< room for a message in a cell
  MpiRmaTransport transport_;
  int other_ = 0;
  std::vector<std::byte> staged_;  ///< a small message and its trailer
  Trailer trailer_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;     ///< messages received and released
  std::uint64_t reported_ = 0;  ///< the value of taken_ that has been put to the other end
};

}  // namespace eventloom
