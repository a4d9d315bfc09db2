#pragma once

#include "schedulers/modulo_assignment.hpp"
#include "schedulers/ordered.hpp"

namespace eventloom {

/// Every source serves the builders in the same order, starting with builder 0, so all send to one builder at a time.
/// The opposite of a barrel shifter, for comparison.
class Unshifted final : public Ordered {
 public:
  explicit Unshifted(const ScheduleSettings& settings) : assignment_{settings.n_builders} {}

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    return assignment_.next_slice(builder, from);
  }
  [[nodiscard]] std::uint64_t slot_of(SourceId, SliceId slice) const override { return slice.value; }

 private:
  ModuloAssignment assignment_;
};

}  // namespace eventloom
