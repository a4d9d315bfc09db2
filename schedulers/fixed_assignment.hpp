#pragma once

#include <cstdint>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// Slice n goes to builder n mod B.
class FixedAssignment : public Scheduler {
 public:
  explicit FixedAssignment(std::uint32_t n_builders) : n_builders_(n_builders) {}

  [[nodiscard]] BuilderId builder_of(SliceId slice) const final {
    return {static_cast<std::uint32_t>(slice.value % n_builders_)};
  }
  [[nodiscard]] SliceId next_slice(BuilderId builder, SliceId from) const final {
    const std::uint64_t ahead = (builder.value + n_builders_ - from.value % n_builders_) % n_builders_;
    return {from.value + ahead};
  }

 protected:
  [[nodiscard]] std::uint32_t n_builders() const { return n_builders_; }

 private:
  std::uint32_t n_builders_;
};

}  // namespace eventloom
