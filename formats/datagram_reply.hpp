#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "formats/datagram.hpp"

/// Datagrams from a receiver back to a board, and those that transfer a file to a board. The header is that of
/// datagram.hpp; numbers are little-endian; unspecified fields are zero. Contents by kind:
///
///   request  receiver to board: 1 to 128 MissingPiece: fragments of epoch buffers to be sent again. `source` and
///            `session` are the board's. Sent to the address that the board sends from.
///   offer    host to board: BulkOffer, then zeros, so that it is as long as the longest piece. Opens a transfer, and
///            asks for its status. `session`: drawn at random by the host for all its datagrams.
///   piece    host to board: a fragment of a block. `sequence`: number of the block, from 0; `offset`: of the fragment
///            in the block; `buffer_bytes`: bytes of the block, which is kBulkBlockBytes long except the last.
///   status   board to host: BulkStatus, then 0 to 128 MissingPiece, or the reason of a refusal as text. All bytes
///            before byte `offset` of block `sequence` have arrived, except those pieces. `source`: the board's id;
///            `session`: that of the host.
namespace eventloom {

/// Bytes `begin` to `end` (exclusive) of an epoch buffer or block; both 0: all of it.
struct MissingPiece {
  std::uint64_t sequence = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const MissingPiece&, const MissingPiece&) = default;
};
static_assert(sizeof(MissingPiece) == 16 && std::is_trivially_copyable_v<MissingPiece>);

inline constexpr std::size_t kMostMissingPieces = 128;  ///< the most that fit one datagram
inline constexpr std::uint32_t kBulkBlockBytes = 1U << 20;

struct BulkOffer {
  std::uint64_t bytes = 0;   ///< size of the file
  std::uint32_t crc = 0;     ///< CRC32C of the file; with `bytes`, it identifies the file
  std::uint32_t number = 0;  ///< counts the offers of a session, from 1
};
static_assert(sizeof(BulkOffer) == 16 && std::is_trivially_copyable_v<BulkOffer>);

enum class BulkState : std::uint32_t { receiving = 1, complete = 2, wrong_checksum = 3, refused = 4 };

struct BulkStatus {
  BulkState state = BulkState::receiving;
  std::uint32_t room = 0;   ///< most bytes that may be in flight to the board; 0: the host decides
  std::uint64_t bytes = 0;  ///< received in total
  std::uint32_t crc = 0;    ///< that of the offer
  std::uint32_t offer = 0;  ///< number of the last offer received: the status covers everything that came before it
};
static_assert(sizeof(BulkStatus) == 24 && std::is_trivially_copyable_v<BulkStatus>);

/// Reads untrusted `bytes`, as read_datagram(), for the kinds from `request` on. The contents of a piece must lie
/// inside its block, of at most kBulkBlockBytes.
std::optional<Datagram> read_reply(std::span<const std::byte> bytes);

/// The pieces in a request, or in a status of state `receiving`; incomplete ones at the end are ignored.
std::vector<MissingPiece> missing_pieces_of(const Datagram& datagram);

/// Contents of a datagram of kind offer or status.
BulkOffer offer_of(const Datagram& datagram);
BulkStatus status_of(const Datagram& datagram);

}  // namespace eventloom
