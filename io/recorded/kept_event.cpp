#include "io/recorded/kept_event.hpp"

#include "core/runtime/format.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

bool is_full(const HitBlock& block) {
  constexpr std::size_t kHits = 8192;
  constexpr std::size_t kWords = 32768;
  constexpr std::size_t kLosses = 4096;
  return block.size() >= kHits || block.payload.size() >= kWords || block.losses.size() >= kLosses;
}

KeptEvent KeptEvent::at_end_of(const HitBlock& block, std::size_t file, std::uint64_t offset, std::uint32_t number) {
  return {.first_hit = block.size(), .losses = block.losses.size(), .file = file, .offset = offset, .number = number};
}

void KeptEvent::take_back(DropCause cause, HitBlock& block) const {
  take_back_hits(block, first_hit, losses, {.offset = offset, .cause = cause});
}

HitBlock KeptEvent::hold_back(HitBlock& block) {
  auto held = block.cut(first_hit, losses);
  first_hit = losses = 0;
  return held;
}

void report_left_out(DefectLog& defect_log, std::uint64_t offset, std::uint32_t number, const std::string& file,
                     DropCause cause) {
  defect_log.say(Defect::number, offset, [&] {
    return fmt::format("event {}{} is dropped: {}", number, file.empty() ? "" : " of " + file,
                       kDropCauseNames[static_cast<std::size_t>(cause)]);
  });
}

}  // namespace eventloom
