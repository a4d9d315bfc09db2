#include "core/exchange/note_ring.hpp"

#include <cstring>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// The note in a cell; nothing when it does not match its checksum.
std::optional<std::span<const std::byte>> proven(std::span<const std::byte> cell) {
  std::uint32_t crc = 0;
  if (cell.size() < sizeof crc) return std::nullopt;
  const auto note = cell.first(cell.size() - sizeof crc);
  std::memcpy(&crc, note.data() + note.size(), sizeof crc);
  if (crc != crc32c(note)) return std::nullopt;
  return note;
}

}  // namespace

void NoteSender::write(std::span<const std::byte> note) {
  const std::uint32_t crc = crc32c(note);
  cell_.assign(note.begin(), note.end());
  const auto tail = std::as_bytes(std::span(&crc, 1));
  cell_.insert(cell_.end(), tail.begin(), tail.end());
  ring_.claim();
  ring_.put(0, cell_);
  ring_.commit(static_cast<std::uint32_t>(cell_.size()), 0, {});
}

std::optional<std::span<const std::byte>> NoteReceiver::poll() {
  const auto cell = ring_.poll();
  if (!cell) return std::nullopt;
  const auto note = proven(cell->bytes());
  if (!note) ring_.wait_for_proof();
  return note;
}

void NoteReceiver::release() {
  ring_.release();
  ring_.grant(true);
}

}  // namespace eventloom
