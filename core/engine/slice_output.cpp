#include "core/engine/slice_output.hpp"

#include <algorithm>

namespace eventloom {

FilterOutput::FilterOutput(std::vector<Outbox> outboxes) {
  for (auto& outbox : outboxes) lanes_.push_back({std::move(outbox), {}, {}, {}, false});
}

bool FilterOutput::accepts(SliceId slice) { return lane_of(slice).outbox.accepts(slice); }

void FilterOutput::put(std::vector<BuiltSlice>& built) {
  auto& lane = lane_of(built.front().slice());
  auto& sent = lane.memory.next(lane.outbox);
  std::swap(sent.built, built);
  Message message;
  message.slice = sent.built.front().slice();
  message.body = to_wire(sent.built, sent.heads);
  lane.outbox.start(message);
  lane.outbox.pump();
  lane.outbox.publish();
}

/// Notifies only the filters that get a slice of the gap.
void FilterOutput::pass(SliceRange gap) {
  const std::uint64_t filters = std::min<std::uint64_t>(gap.end.value - gap.begin.value, lanes_.size());
  for (std::uint64_t i = 0; i < filters; ++i) {
    auto& lane = lane_of({gap.begin.value + i});
    const bool known = lane.last_gap.begin <= gap.begin && gap.end <= lane.last_gap.end;
    if (known) continue;
    lane.gaps.push_back(gap);
    lane.last_gap = gap;
  }
}

void FilterOutput::end(SliceId data_end) {
  ending_ = true;
  data_end_ = data_end;
}

std::size_t FilterOutput::do_work() {
  std::size_t work = 0;
  for (auto& lane : lanes_) {
    work += lane.outbox.pump() ? 1 : 0;
    if (lane.outbox.free()) work += notify(lane);
    lane.outbox.publish();
  }
  return work;
}

std::size_t FilterOutput::notify(Lane& lane) {
  if (!lane.gaps.empty()) {
    lane.outbox.start_gap(0, lane.gaps.front());
    lane.gaps.pop_front();
  } else if (ending_ && !lane.reported_end) {
    lane.outbox.start_end(0, data_end_);
    lane.reported_end = true;
  } else {
    return 0;
  }
  lane.outbox.pump();
  return 1;
}

bool FilterOutput::done() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.reported_end && lane.outbox.free(); });
}

}  // namespace eventloom
