#include "schedulers/round_robin.hpp"

namespace eventloom {

RoundRobin::RoundRobin(const ScheduleSettings& settings)
    : assignment_{settings.n_builders},
      first_slot_(settings.first_slice.value / settings.n_builders * settings.n_builders),
      slot_ns_(settings.slot_ns) {}

std::optional<SliceId> RoundRobin::next_slice(BuilderId builder, SliceId from) const {
  return assignment_.next_slice(builder, from);
}

std::uint64_t RoundRobin::slot_of(SourceId source, SliceId slice) const {
  const std::uint64_t b = assignment_.n_builders;
  const std::uint64_t place = slice.value % b;
  const std::uint64_t shift = source.value < b ? source.value : source.value % b;
  return slice.value - shift + (place < shift ? b : 0);
}

std::uint64_t RoundRobin::start_ns(SourceId source, SliceId slice) const {
  return slot_ns_ == 0 ? 0 : (slot_of(source, slice) - first_slot_) * slot_ns_;
}

}  // namespace eventloom
