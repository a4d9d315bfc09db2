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
    const Epoch before = header->first_epoch + Epoch(begun_ ? 0 : 1);
    for (; lost != damage.end() && lost->first_epoch < before; ++lost) note(*lost);
    put_loss(header->first_epoch, put);
    begun_ = true;
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
  loss_.unknown = loss_.unknown || (damage.n_hits == 0 && !begun_);
  loss_.n_hits += damage.n_hits;
  loss_.epochs.begin = std::max(end_, std::min(loss_.epochs.begin, damage.first_epoch));
  loss_.epochs.end = std::max({loss_.epochs.end, end_of(damage), loss_.epochs.begin + 1});
}

/// Puts the pending loss, unless it lies at or after `before`, the epoch of the next buffer, or there is no room for it
/// before that; it then stays pending.
void RecordedLosses::put_loss(Epoch before, const Put& put) {
  if (loss_.unknown && !put_stretch(0, before, put)) return;
  loss_.unknown = false;
  if (loss_.n_hits != 0 && !put_stretch(loss_.n_hits, before, put)) return;
  loss_ = {};
}

/// The stretch of the loss, or its first epoch if another stretch follows. Returns false if there is no room.
bool RecordedLosses::put_stretch(std::uint64_t n_hits, Epoch before, const Put& put) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const Epoch begin = std::max(end_, loss_.epochs.begin);
  if (begin >= before) return false;
  const bool whole = n_hits == loss_.n_hits;
  const Epoch end = std::min(whole ? std::max(loss_.epochs.end, begin + 1) : begin + 1, before);
  EpochBufferHeader header;
  header.first_epoch = begin;
  header.n_epochs = static_cast<std::uint32_t>(std::min((end - begin).value, kMost));
  header.n_hits = static_cast<std::uint32_t>(std::min(n_hits, kMost));
  if (n_hits == 0) header.words_crc = kUnknownLoss;
  std::vector<std::byte> stored;
  append_stored(header, {}, stored);
  put(stored);
  end_ = end;
  return true;
}

}  // namespace eventloom
