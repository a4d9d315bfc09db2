#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/control/collective.hpp"
#include "core/control/message_channel.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

struct MemoryBound;

/// Access of one rank of a run to the others. Must outlive the objects it opens.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  [[nodiscard]] virtual const Collective& ranks() const = 0;
  /// Collective, as is the window's destruction: opens a window on each rank, with `bytes` on this rank, possibly 0.
  [[nodiscard]] virtual std::unique_ptr<Transport> open_window(std::uint64_t bytes) = 0;
  /// Like open_window(), for credits and notes, which must not wait behind data.
  [[nodiscard]] virtual std::unique_ptr<Transport> open_control_window(std::uint64_t bytes) {
    return open_window(bytes);
  }
  /// Bounds on the windows of this rank: by default the memory of its host and process.
  [[nodiscard]] virtual std::vector<MemoryBound> memory_bounds() const;
  /// Collective, as is the channel's destruction: opens a channel whose messages no other channel sees.
  [[nodiscard]] virtual std::unique_ptr<MessageChannel> open_channel() = 0;
};

}  // namespace eventloom
