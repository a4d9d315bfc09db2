#pragma once

#include "schedulers/fixed_assignment.hpp"

namespace eventloom {

/// Barrel shifter, kept by order: in slot k source s sends to builder (s + k) mod B, so that at the
/// same slot no two sources (of B) send to one builder. A source waits for the builder whose turn it is.
class RoundRobin final : public FixedAssignment {
 public:
  using FixedAssignment::FixedAssignment;

  /// The slot in which `source` sends `slice`.
  [[nodiscard]] std::uint64_t slot_of(SourceId source, SliceId slice) const;
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override;
};

}  // namespace eventloom
