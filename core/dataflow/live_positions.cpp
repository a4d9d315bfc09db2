#include "core/dataflow/live_positions.hpp"

#include <algorithm>
#include <cassert>

namespace eventloom {

Epoch LivePositions::unknown() const { return std::max({complete_, taken_, closed_}); }

void LivePositions::advance(Epoch to, Advance how) {
  if (how == Advance::released) {
    released_ = std::max(released_, to);
    return;
  }
  if (how == Advance::received) {
    received_ = std::max(received_, to);
  } else {
    if (how == Advance::empty) passed_ = {unknown() == passed_.end ? passed_.begin : unknown(), to};
    if (how == Advance::ended) stage_ = LiveStage::ended;
    closed_ = std::max(closed_, to);
  }
  complete_ = std::max(complete_, to);
  assert(received_ <= complete_);
}

void LivePositions::close_before(Epoch epoch) { closed_ = std::max(closed_, epoch); }

void LivePositions::begin_run(Epoch epoch) {
  restart();
  begun_ = true;
  run_.begin = closed_ = epoch;
}

void LivePositions::finish() { stage_ = std::max(stage_, LiveStage::ending); }

void LivePositions::drain() {
  if (is_drained()) return;
  stage_ = stage_ == LiveStage::open ? LiveStage::ended : LiveStage::drained;
}

}  // namespace eventloom
