#pragma once

#include "schedulers/first_ready.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// A builder claims the next slice when it has room, so slow builders get fewer slices. Sources start their search at
/// different builders; if all sent the lowest slice first, they would all send to its builder at the same time.
class Balanced final : public Scheduler {
 public:
  explicit Balanced(const ScheduleSettings& settings) : book_(settings.first_slice, 2 * settings.claim_ahead) {}

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override {
    return book_.next_slice(builder, from);
  }
  [[nodiscard]] std::optional<BuilderId> choose(const SourceView& view) const override { return first_ready(view); }
  [[nodiscard]] ClaimBook* claims() override { return &book_; }
  /// The builder with the most room; ties go to the next builder after the last that got a slice.
  [[nodiscard]] std::optional<BuilderId> assign(std::span<const std::uint32_t> room) const override;

 private:
  ClaimBook book_;
};

}  // namespace eventloom
