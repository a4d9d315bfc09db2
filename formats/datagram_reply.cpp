#include "formats/datagram_reply.hpp"

#include <algorithm>
#include <cstring>

namespace eventloom {

namespace {

bool reply_fits(const DatagramHeader& header, std::size_t bytes) {
  constexpr std::size_t kPiece = sizeof(MissingPiece);
  const std::uint32_t whole = header.buffer_bytes;
  switch (header.kind) {
    case DatagramKind::request:
      return bytes >= kPiece && bytes % kPiece == 0 && bytes / kPiece <= kMostMissingPieces && header.offset == 0 &&
             header.sequence == 0 && whole == 0;
    case DatagramKind::offer:
      return bytes >= sizeof(BulkOffer) && header.offset == 0 && header.sequence == 0 && whole == 0;
    case DatagramKind::piece:
      return bytes > 0 && whole <= kBulkBlockBytes && header.offset <= whole && bytes <= whole - header.offset;
    case DatagramKind::status: return bytes >= sizeof(BulkStatus) && header.offset < kBulkBlockBytes && whole == 0;
    default: return false;
  }
}

}  // namespace

std::optional<Datagram> read_reply(std::span<const std::byte> bytes) {
  auto datagram = read_framed(bytes);
  if (datagram && !reply_fits(datagram->header, datagram->contents.size())) datagram.reset();
  return datagram;
}

std::vector<MissingPiece> missing_pieces_of(const Datagram& datagram) {
  auto rest = datagram.contents;
  if (datagram.header.kind == DatagramKind::status) rest = rest.subspan(sizeof(BulkStatus));
  std::vector<MissingPiece> pieces(std::min(rest.size() / sizeof(MissingPiece), kMostMissingPieces));
  if (!pieces.empty()) std::memcpy(pieces.data(), rest.data(), pieces.size() * sizeof(MissingPiece));
  return pieces;
}

BulkOffer offer_of(const Datagram& datagram) {
  BulkOffer offer;
  std::memcpy(&offer, datagram.contents.data(), sizeof offer);
  return offer;
}

BulkStatus status_of(const Datagram& datagram) {
  BulkStatus status;
  std::memcpy(&status, datagram.contents.data(), sizeof status);
  return status;
}

}  // namespace eventloom
