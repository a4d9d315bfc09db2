#include "app/filter_role.hpp"

#include <algorithm>

#include "formats/built_slice_wire.hpp"

namespace eventloom {

namespace {

SliceId next_slice_of_filter(const FilterRoleSettings& settings, std::uint64_t from) {
  const std::uint64_t f = settings.n_filters;
  return {from + (settings.id.value + f - from % f) % f};
}

}  // namespace

FilterRole::FilterRole(FilterRoleSettings settings, const Scheduler& scheduler, std::vector<Inbox> inboxes,
                       Selector& selector)
    : settings_(settings),
      scheduler_(scheduler),
      selector_(selector),
      next_(next_slice_of_filter(settings, settings.first_slice.value)) {
  for (auto& inbox : inboxes) lanes_.push_back({std::move(inbox), SliceAssembler{1}});
}

std::size_t FilterRole::do_work(SteadyTime) {
  std::size_t work = 0;
  for (auto& lane : lanes_) work += lane.inbox.drain(lane.assembler);
  while (!finished_ && take_next()) ++work;
  const std::uint64_t ahead = std::uint64_t{settings_.slices_in_flight} * settings_.n_filters * settings_.n_builders;
  for (auto& lane : lanes_) lane.inbox.grant({next_.value + ahead}, work == 0);
  return work;
}

bool FilterRole::take_next() {
  auto& assembler = lanes_[scheduler_.builder_of(next_).value].assembler;
  if (!assembler.complete(next_)) return false;
  if (assembler.all_ended() && next_ >= assembler.data_end()) {
    finished_ = std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.assembler.all_ended(); });
    return finished_;
  }
  auto assembly = assembler.take(next_);
  from_wire(assembly->part(0).body(), slice_);
  assembler.recycle(std::move(assembly));
  selector_.take(slice_);
  next_ = next_slice_of_filter(settings_, next_.value + 1);
  return true;
}

void FilterRole::settle() {
  for (auto& lane : lanes_) lane.inbox.settle();
}

}  // namespace eventloom
