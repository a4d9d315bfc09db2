#include "core/engine/source_role.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

SourceRole::SourceRole(SourceRoleSettings settings, Scheduler& scheduler, std::vector<LocalSource> sources,
                       std::vector<Outbox> outboxes)
    : shared_(std::move(settings), scheduler, sources.size(), std::move(outboxes)) {
  for (auto& source : sources) streams_.emplace_back(shared_, streams_.size(), std::move(source));
}

std::size_t SourceRole::do_work(SteadyTime now) {
  shared_.pace.turn(now);
  std::size_t work = shared_.messages.pump();
  // Room for new data comes from what the builders have given back.
  for (auto& stream : streams_) stream.release_sent();
  work += shared_.live.receive(now);
  for (auto& stream : streams_) {
    if (!stream.ended()) work += stream.serve();
  }
  sent_ = work != 0;
  if (work == 0) return 0;
  shared_.messages.publish();
  return work;
}

bool SourceRole::done() const { return std::ranges::all_of(streams_, &SourceStream::ended); }

bool SourceRole::make_room() {
  for (std::size_t i = streams_.size(); i-- > 0;) {
    if (streams_[i].waits_for_room()) return shared_.messages.make_room(i);
  }
  return false;
}

SliceId SourceRole::begun_end() const {
  SliceId end = shared_.settings.first_slice;
  for (const auto& stream : streams_) end = std::max(end, stream.begun_end());
  return end;
}

void SourceRole::resume() {
  if (!shared_.pace.resume()) return;
  for (auto& stream : streams_) stream.resume();
  shared_.live.resume();
}

void SourceRole::set_speed(double speed) {
  SliceId next = shared_.settings.first_slice;
  for (const auto& stream : streams_) {
    if (!stream.live() && stream.lowest() < stream.data().send_end()) next = std::max(next, stream.lowest());
  }
  shared_.pace.set_speed(speed, next);
}

void SourceRole::stop_at(SliceId stop) {
  resume();
  shared_.live.hurry();
  for (auto& stream : streams_) stream.stop_at(stop);
}

void SourceRole::safe_before(SliceId slice) {
  for (auto& stream : streams_) stream.safe_before(slice);
}

void SourceRole::end_at(SliceId end) {
  stop_at(end);
  for (auto& stream : streams_) stream.end_at(end);
}

}  // namespace eventloom
