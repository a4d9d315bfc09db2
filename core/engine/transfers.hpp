#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/exchange/outbox.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Messages of one source put to other hosts. Until they are known to be complete, they count as in flight and keep the
/// memory of the source.
class Transfers {
 public:
  /// A message to `builder` was begun; `lowest`: the lowest slice that the source had still to send then, which never
  /// decreases.
  void begin(std::size_t builder, SliceId lowest);
  /// All of the last message to `builder` has been put; its outbox has used `cells` cells.
  void end(std::size_t builder, std::uint64_t cells);
  /// Forgets messages that are complete. `outboxes`: indexed by builder.
  void update(std::span<Outbox> outboxes);

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  /// Among the builders with completely put messages in flight, the one whose last message was put first: flushing it
  /// completes earliest. std::nullopt if all messages wait for room in their rings, which no flush makes.
  [[nodiscard]] std::optional<std::size_t> first_to_end() const;
  /// These messages need no data before this slice; `otherwise` if there are none.
  [[nodiscard]] SliceId lowest(SliceId otherwise) const {
    return pending_.empty() ? otherwise : pending_.front().lowest;
  }

 private:
  static constexpr std::uint64_t kNotPut = std::numeric_limits<std::uint64_t>::max();
  struct Pending {
    std::size_t builder = 0;
    std::uint64_t cells = 0;  ///< cells used by the outbox, up to the end of the message
    SliceId lowest;
  };
  std::vector<Pending> pending_;  ///< ordered by begin()
};

/// Number of messages of `bytes` to keep in flight: two mebibytes of them, at least 32 and at most 64. In simulations
/// with 64 nodes, fewer than eight leave links idle, and more than 64 gain nothing (schedulers/README.md).
std::size_t transfers_for(std::uint64_t bytes);

}  // namespace eventloom
