#pragma once

#include <mpi.h>

#include "core/control/collective.hpp"

namespace eventloom {

/// A private copy of MPI_COMM_WORLD. Construction and destruction are collective.
class Communicator final : public Collective {
 public:
  Communicator();
  ~Communicator() override;

  [[nodiscard]] MPI_Comm handle() const { return handle_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] std::unique_ptr<PendingBarrier> barrier() const override;

 private:
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                    std::span<std::byte> all) const override;
  void broadcast_bytes(std::span<std::byte> data) const override;

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace eventloom
