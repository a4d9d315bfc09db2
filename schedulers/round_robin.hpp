#pragma once

#include "schedulers/modulo_assignment.hpp"
#include "schedulers/ordered.hpp"

namespace eventloom {

/// Barrel shifter: in slot k source s sends to builder (s + k) mod B, so that no two of B sources send to the same
/// builder in a slot. Slots fix the order; if they have a length, they also fix the times.
class RoundRobin final : public Ordered {
 public:
  explicit RoundRobin(const ScheduleSettings& settings);

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override;
  [[nodiscard]] std::uint64_t slot_of(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t start_ns(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t slot_ns() const override { return slot_ns_; }
  [[nodiscard]] std::uint64_t cycle_ns() const override { return assignment_.n_builders * slot_ns_; }

 private:
  ModuloAssignment assignment_;
  std::uint64_t first_slot_;
  std::uint64_t slot_ns_;
};

}  // namespace eventloom
