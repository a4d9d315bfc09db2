#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// What one source could send now. All spans are indexed by builder number.
struct SourceView {
  SourceId source;
  /// The first slice of each builder that the source has not yet begun to send.
  std::span<const SliceId> next;
  /// Whether the builder has a credit for that slice: a free cell, and the slice within its window.
  std::span<const std::uint8_t> ready;
  /// The source has nothing to send from here on.
  SliceId end;
  /// Transfers that the source has begun so far.
  std::uint64_t turn = 0;
};

/// Decides which builder gets a slice and in which order a source serves the builders. Knows
/// nothing of how bytes are moved. All answers are functions of the arguments alone, the same on
/// every rank, so that a schedule can be replayed and compared offline.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  [[nodiscard]] virtual BuilderId builder_of(SliceId slice) const = 0;
  /// First slice at or after `from` that goes to `builder`.
  [[nodiscard]] virtual SliceId next_slice(BuilderId builder, SliceId from) const = 0;
  /// The builder to which `view.source` sends next; nothing when it has to wait, or has sent all.
  [[nodiscard]] virtual std::optional<BuilderId> choose(const SourceView& view) const = 0;
};

/// Names that `--schedule` accepts.
std::vector<std::string_view> scheduler_names();

/// Throws std::invalid_argument that lists the names when there is no such scheduler.
std::unique_ptr<Scheduler> make_scheduler(std::string_view name, std::uint32_t n_builders);

}  // namespace eventloom
