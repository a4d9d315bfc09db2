#include "io/recorded/numbered_blocks.hpp"

#include <utility>

#include "io/recorded/kept_event.hpp"

namespace eventloom {

void NumberedBlocks::begin(HitBlock& block) {
  if (waiting_) events_.keep(*std::exchange(waiting_, std::nullopt), block);
}

bool NumberedBlocks::add(std::uint32_t number, bool completes_previous, HitBlock& block) {
  const auto judgement = numbers_.judge(number, completes_previous);
  if (judgement.previous) events_.take_back(*judgement.previous, block);
  if (judgement.current) {
    events_.leave_out(*judgement.current, block);
    return true;
  }
  if (is_full(block)) {
    waiting_ = judgement.tick;
    return false;
  }
  events_.keep(judgement.tick, block);
  return true;
}

void NumberedBlocks::finish(HitBlock& block) {
  if (const auto cause = numbers_.finish()) events_.take_back(*cause, block);
}

}  // namespace eventloom
