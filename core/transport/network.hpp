#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/control/collective.hpp"
#include "core/control/message_channel.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

struct MemoryBound;

/// Access of one rank of a run to the others. Outlives the objects it opens.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  [[nodiscard]] virtual const Collective& ranks() const = 0;
  /// Collective, like its destruction: opens windows on all ranks, with this many bytes on this rank, possibly none.
  [[nodiscard]] virtual std::unique_ptr<Transport> open_window(std::uint64_t bytes) = 0;
  /// What limits the windows of this rank: by default the memory of its host and process.
  [[nodiscard]] virtual std::vector<MemoryBound> memory_bounds() const;
  /// Collective, like its destruction: opens a channel whose messages no other channel sees.
  [[nodiscard]] virtual std::unique_ptr<MessageChannel> open_channel() = 0;
};

}  // namespace eventloom
