#include "app/slice_output.hpp"

#include <algorithm>

namespace eventloom {

FilterOutput::FilterOutput(std::vector<Outbox> outboxes) {
  for (auto& outbox : outboxes) lanes_.push_back({std::move(outbox), {}, {}, false});
}

bool FilterOutput::accepts(SliceId slice) { return lane_of(slice).outbox.accepts(slice); }

void FilterOutput::put(BuiltSlice& slice) {
  auto& lane = lane_of(slice.slice());
  std::swap(lane.slice, slice);
  Message message;
  message.slice = lane.slice.slice();
  message.body = to_wire(lane.slice, lane.head);
  lane.outbox.start(message);
  lane.outbox.pump();
  // The slice's memory is reused by the next put(), which may come before another publish.
  lane.outbox.publish();
}

void FilterOutput::end(SliceId data_end) {
  ending_ = true;
  data_end_ = data_end;
}

std::size_t FilterOutput::do_work() {
  std::size_t work = 0;
  for (auto& lane : lanes_) {
    work += lane.outbox.pump() ? 1 : 0;
    if (ending_ && !lane.told_end && lane.outbox.free()) {
      lane.outbox.start_end(0, data_end_);
      lane.outbox.pump();
      lane.told_end = true;
      ++work;
    }
    lane.outbox.publish();
  }
  return work;
}

bool FilterOutput::done() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.told_end && lane.outbox.free(); });
}

void FilterOutput::settle() {
  for (auto& lane : lanes_) lane.outbox.settle();
}

}  // namespace eventloom
