#include "core/exchange/note_ring.hpp"

#include <cstring>

#include "formats/crc32c.hpp"

namespace eventloom {

void NoteSender::send(std::span<const std::byte> note) {
  const std::uint32_t crc = crc32c(note);
  cell_.assign(note.begin(), note.end());
  const auto tail = std::as_bytes(std::span(&crc, 1));
  cell_.insert(cell_.end(), tail.begin(), tail.end());
  ring_.claim();
  ring_.put(0, cell_);
  ring_.commit(static_cast<std::uint32_t>(cell_.size()), 0, {});
  ring_.publish();
}

std::optional<std::span<const std::byte>> NoteReceiver::poll() {
  const auto cell = ring_.poll();
  std::uint32_t crc = 0;
  if (!cell || cell->bytes().size() < sizeof crc) return std::nullopt;
  const auto note = cell->bytes().first(cell->bytes().size() - sizeof crc);
  std::memcpy(&crc, note.data() + note.size(), sizeof crc);
  // Seen too early on a network with relaxed ordering: it is looked at again.
  if (crc != crc32c(note)) return std::nullopt;
  return note;
}

void NoteReceiver::release() {
  ring_.release();
  ring_.grant(true);
}

}  // namespace eventloom
