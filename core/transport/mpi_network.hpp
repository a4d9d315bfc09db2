#pragma once

#include "core/mpi/communicator.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// The ranks of a communicator, which must outlive it; its windows use MPI RMA.
class MpiNetwork final : public Network {
 public:
  explicit MpiNetwork(const Communicator& communicator) : communicator_(communicator) {}

  [[nodiscard]] const Collective& ranks() const override { return communicator_; }
  [[nodiscard]] std::unique_ptr<Transport> open_window(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<Transport> open_control_window(std::uint64_t bytes) override;
  [[nodiscard]] std::vector<MemoryBound> memory_bounds() const override;
  [[nodiscard]] std::unique_ptr<MessageChannel> open_channel() override;

 private:
  const Communicator& communicator_;
};

}  // namespace eventloom
