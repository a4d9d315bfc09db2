#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/exchange/outbox.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// The messages of one source to other hosts that have been put: those that are not known to have arrived count as
/// under way; those that are not known to be complete keep the memory of the source.
class Transfers {
 public:
  /// A message to `builder` has been begun; `lowest`: the lowest slice that the source had still to send then, which
  /// never falls.
  void begin(std::size_t builder, SliceId lowest);
  /// All of the last message to `builder` has been put; its outbox has used `cells` cells.
  void end(std::size_t builder, std::uint64_t cells);
  /// Forgets what has arrived, and what is complete. `outboxes`: by builder.
  void update(std::span<Outbox> outboxes);

  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }
  /// Of the builders to which whole messages are under way, the one whose last was put first: a flush of it ends first.
  /// std::nullopt when all messages wait for room in their rings, which no flush makes.
  [[nodiscard]] std::optional<std::size_t> first_to_end() const;
  /// The source needs no data before this slice for them; `otherwise` when there are none.
  [[nodiscard]] SliceId lowest(SliceId otherwise) const { return kept_.empty() ? otherwise : kept_.front().lowest; }

 private:
  static constexpr std::uint64_t kNotPut = std::numeric_limits<std::uint64_t>::max();
  struct UnderWay {
    std::size_t builder = 0;
    std::uint64_t cells = 0;  ///< of the outbox, up to the end of the message
  };
  struct Kept {
    std::size_t builder = 0;
    std::uint64_t cells = 0;
    SliceId lowest;
  };
  std::vector<UnderWay> under_way_;  ///< in the order of begin()
  std::deque<Kept> kept_;            ///< in the order of begin()
};

/// How many messages of `bytes` to keep under way: two mebibytes of them, at least 32 and at most 64. Simulated on 64
/// nodes, fewer than eight leave links idle, and more than 64 gain nothing (schedulers/README.md).
std::size_t transfers_for(std::uint64_t bytes);

}  // namespace eventloom
