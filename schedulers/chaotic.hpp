#pragma once

#include "schedulers/fixed_assignment.hpp"

namespace eventloom {

/// No order: whatever has a credit goes. The look-out for credits starts one builder further with
/// each transfer, and at another one for each source, so that none is preferred.
class Chaotic final : public FixedAssignment {
 public:
  using FixedAssignment::FixedAssignment;

  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override;
};

}  // namespace eventloom
