#include "core/engine/filter_role.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "formats/built_slice_wire.hpp"

namespace eventloom {

namespace {

/// The first slice at or after `from` that is sent to this filter.
SliceId next_slice_of_filter(const FilterRoleSettings& settings, std::uint64_t from) {
  const std::uint64_t f = settings.n_filters;
  SliceId slice{from + (settings.id.value + f - from % f) % f};
  while (settings.finished.contains(slice)) slice.value += f;
  return slice;
}

}  // namespace

FilterRole::FilterRole(FilterRoleSettings settings, std::vector<Inbox> inboxes, Selector selector)
    : settings_(std::move(settings)),
      selector_(std::move(selector)),
      next_(next_slice_of_filter(settings_, settings_.first_slice.value)),
      built_(selector_.kinds()) {
  for (auto& inbox : inboxes) lanes_.push_back({std::move(inbox), SliceAssembler{1}});
}

std::size_t FilterRole::do_work(SteadyTime now) {
  std::size_t work = 0;
  for (auto& lane : lanes_) work += lane.inbox.drain(lane.assembler);
  while (!finished_ && take_next()) ++work;
  const std::uint64_t ahead = std::uint64_t{settings_.slices_in_flight} * settings_.n_filters * settings_.n_builders;
  for (auto& lane : lanes_) {
    lane.inbox.grant({next_.value + ahead}, work == 0);
    lane.inbox.grant_far(now);
  }
  return work;
}

SteadyTime FilterRole::due() const {
  SteadyTime first = SteadyTime::max();
  for (const auto& lane : lanes_) first = std::min(first, lane.inbox.due());
  return first;
}

bool FilterRole::take_next() {
  const auto holder = std::ranges::find_if(lanes_, [&](const Lane& lane) { return lane.assembler.holds(next_); });
  if (holder == lanes_.end()) {
    finished_ = all_built();
    return finished_ || pass_over();
  }
  if (!holder->assembler.complete(next_)) return false;
  auto assembly = holder->assembler.take(next_);
  from_wire(assembly->part(0).body(), built_);
  if (built_.front().slice() != next_) {
    throw std::runtime_error("exchange: slice " + std::to_string(built_.front().slice().value) + " arrived as slice " +
                             std::to_string(next_.value));
  }
  holder->assembler.recycle(std::move(assembly));
  selector_.take(built_);
  next_ = next_slice_of_filter(settings_, next_.value + 1);
  return true;
}

/// Skips the next slices if a builder has announced that they are empty.
bool FilterRole::pass_over() {
  SliceId end = next_;
  for (const auto& lane : lanes_) end = std::max(end, lane.assembler.nothing_up_to(0, next_));
  if (end == next_) return false;
  for (auto& lane : lanes_) lane.assembler.pass(end);
  next_ = next_slice_of_filter(settings_, end.value);
  return true;
}

/// Every builder has ended, and the next slice lies after the last one with data.
bool FilterRole::all_built() const {
  return std::ranges::all_of(
      lanes_, [&](const Lane& lane) { return lane.assembler.all_ended() && next_ >= lane.assembler.data_end(); });
}

}  // namespace eventloom
