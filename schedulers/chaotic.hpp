#pragma once

#include "schedulers/first_ready.hpp"
#include "schedulers/modulo_assignment.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// No order: any slice with a credit is sent.
class Chaotic final : public Scheduler {
 public:
  explicit Chaotic(const ScheduleSettings& settings) : assignment_{settings.n_builders} {}

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    return assignment_.next_slice(builder, from);
  }
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override { return first_ready(view); }

 private:
  ModuloAssignment assignment_;
};

}  // namespace eventloom
