#include "core/exchange/note_ring.hpp"

#include <cstring>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// The checksum of a note in a cell, whose number distinguishes it from an intact note of an earlier round.
std::uint32_t checksum(std::span<const std::byte> note, std::uint32_t cell) { return crc32c(note) ^ cell; }

/// The note in a cell; std::nullopt if it does not match its checksum.
std::optional<std::span<const std::byte>> proven(std::span<const std::byte> cell, std::uint32_t number) {
  std::uint32_t crc = 0;
  if (cell.size() < sizeof crc) return std::nullopt;
  const auto note = cell.first(cell.size() - sizeof crc);
  std::memcpy(&crc, note.data() + note.size(), sizeof crc);
  if (crc != checksum(note, number)) return std::nullopt;
  return note;
}

}  // namespace

void NoteSender::send(std::span<const std::byte> note) {
  ring_.claim();
  const std::uint32_t crc = checksum(note, ring_.open_number());
  auto& cell = cells_[ring_.cells() % cells_.size()];
  cell.assign(note.begin(), note.end());
  const auto tail = std::as_bytes(std::span(&crc, 1));
  cell.insert(cell.end(), tail.begin(), tail.end());
  ring_.put(0, cell);
  ring_.commit(static_cast<std::uint32_t>(cell.size()), 0, {}, Proof::checksum);
  ring_.publish();
}

std::optional<std::span<const std::byte>> NoteReceiver::poll() {
  const auto cell = ring_.poll();
  if (!cell) return std::nullopt;
  const auto note = proven(cell->bytes(), cell->number());
  if (!note) ring_.wait_for_proof();
  return note;
}

void NoteReceiver::release() {
  ring_.release();
  ring_.grant(true);
}

}  // namespace eventloom
