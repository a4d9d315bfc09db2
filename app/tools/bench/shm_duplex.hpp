#pragma once

#include <atomic>

#include "app/tools/bench/duplex.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// A ring in memory that two processes of a host share, in each direction: a copy in, a number, and a look. No MPI,
/// no checksum: the floor of what a host can do.
class ShmDuplex final : public Duplex {
 public:
  /// Throws UserError on all ranks if there is not enough shared memory.
  ShmDuplex(const Communicator& communicator, const DuplexSettings& settings);
  ~ShmDuplex() override;

  bool try_send(std::span<const std::byte> message) override;
  bool send_complete(std::span<const std::byte> message) override;
  std::optional<std::span<const std::byte>> poll() override;
  void release() override;

 private:
  static constexpr std::size_t kLine = 64;
  struct Ring {
    alignas(kLine) std::atomic<std::uint64_t> sent;
    alignas(kLine) std::atomic<std::uint64_t> released;
  };

  void map(const std::string& name, bool create);
  [[nodiscard]] Ring& ring(std::size_t number) const;
  [[nodiscard]] std::byte* cell(std::size_t number, std::uint64_t message) const;

  std::size_t cell_bytes_;
  void* memory_ = nullptr;
  std::size_t sending_ = 0;    ///< number of the ring to send by
  std::size_t receiving_ = 0;  ///< likewise
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace eventloom
