#include "io/recorded/numbered_blocks.hpp"

#include <utility>

#include "core/runtime/log.hpp"
#include "io/recorded/kept_event.hpp"

namespace eventloom {

void report_narrower(const std::string& name, const NumberPlace& place, EventNumbers& numbers) {
  const auto bits = numbers.narrower();
  if (!bits) return;
  log::warn(
      "{}: event numbers go back from near 2^{} to near 0, and none is beyond: do they wrap around after {} bits? "
      "{} continues them; without it, events that go back are dropped",
      name, *bits, *bits, place.key_of_lowest(*bits));
}

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

void NumberedBlocks::finish(const std::string& name, HitBlock& block) {
  if (const auto cause = numbers_.finish()) events_.take_back(*cause, block);
  report_narrower(name, place_, numbers_);
}

}  // namespace eventloom
