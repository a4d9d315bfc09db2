#include "io/live/recorded_losses.hpp"

#include <algorithm>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

void RecordedLosses::add(std::span<const std::byte> buffers, std::span<const Damage> damage, const Put& put) {
  auto lost = damage.begin();
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    for (; lost != damage.end() && lost->first_epoch < header->first_epoch; ++lost) note(*lost);
    put_loss(header->first_epoch, put);
    put(buffers.first(header->stored_bytes()));
    end_ = header->epochs().end;
    buffers = buffers.subspan(header->stored_bytes());
  }
  for (; lost != damage.end(); ++lost) note(*lost);
}

void RecordedLosses::note(const Damage& damage) {
  if (damage.cause == DropCause::duplicate) return;
  if (end_ == 0 || damage.n_epochs >= kForever) {
    hits_left_out_ += damage.n_hits;
    return;
  }
  loss_.n_hits += damage.n_hits;
  loss_.epochs.begin = std::max(end_, std::min(loss_.epochs.begin, damage.first_epoch));
  loss_.epochs.end = std::max({loss_.epochs.end, end_of(damage), loss_.epochs.begin + 1});
}

/// Puts the pending loss, unless it lies at or after `before`, the epoch of the next buffer, or there is no room for it
/// before that; it then stays pending.
void RecordedLosses::put_loss(Epoch before, const Put& put) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (loss_.n_hits != 0) {
    const Epoch begin = std::max(end_, loss_.epochs.begin);
    if (begin >= before) return;
    const Epoch end = std::min(std::max(loss_.epochs.end, begin + 1), before);
    EpochBufferHeader header;
    header.first_epoch = begin;
    header.n_epochs = static_cast<std::uint32_t>(std::min((end - begin).value, kMost));
    header.n_hits = static_cast<std::uint32_t>(std::min(loss_.n_hits, kMost));
    std::vector<std::byte> stored;
    append_stored(header, {}, stored);
    put(stored);
    end_ = end;
  }
  loss_ = {};
}

}  // namespace eventloom
