#pragma once

#include <cstdint>
#include <memory>

#include "core/control/collective.hpp"
#include "core/control/message_channel.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

/// What one rank of a run has of the others. Outlives what it opens.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  [[nodiscard]] virtual const Collective& ranks() const = 0;
  /// Collective, as is destroying it: windows of all ranks, this rank's of so many bytes, which may be none.
  [[nodiscard]] virtual std::unique_ptr<Transport> open_window(std::uint64_t bytes) = 0;
  /// Collective, as is destroying it: messages that no other channel sees.
  [[nodiscard]] virtual std::unique_ptr<MessageChannel> open_channel() = 0;
};

}  // namespace eventloom
