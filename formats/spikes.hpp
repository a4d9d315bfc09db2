#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "formats/ids.hpp"

/// Spikes as compressed pulse packets, extension `.spikes`, little-endian throughout. Uses the packing of the links
/// between neuromorphic wafers and their hosts: a spike stores its distance from the previous spike in 15 bits, and
/// only a longer distance needs a second word.
///
///   +----------------+  offset 0: SpikeFileHeader, 32 bytes
///   | file header    |
///   +----------------+
///   | packet header  |  SpikePacketHeader, 40 bytes
///   | entries        |  `n_entries` words of 32 bits
///   +----------------+
///   | packet ...     |  until the file ends: there is no trailer, a truncated file is valid up to its end
///   +----------------+
///
///   An entry:
///    31 30           16 15            0
///   +--+---------------+---------------+
///   | 0| delta         | label         |  a spike `delta` ticks after the current time; its time becomes current
///   +--+---------------+---------------+
///   | 1| overflow                      |  advances the current time by this many ticks
///   +--+-------------------------------+
///
/// At the beginning of each packet the current time is its `start`, so packets can be read independently. Times do not
/// decrease within a packet, but may between packets. Overflow entries may be consecutive, and have no effect at the
/// end of a packet. The encoder writes at most one before a spike, so that a spike takes 4 or 8 bytes, and begins a new
/// packet if that is not enough.
///
/// The channel of a spike is `channel_base` + label. Packets count from 0 in `sequence`, so that missing and repeated
/// ones are detected.
namespace eventloom {

struct SpikeFileHeader {
  static constexpr std::uint64_t kMagic =
      0x0a454b4950533189ULL;  ///< bytes 89 31 "SPIKE" 0a: no text file begins like this
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t header_crc = 0;  ///< CRC32C of the fields after this one
  std::uint64_t tick_ps = 0;     ///< unit of all times, not 0
  std::uint32_t channel_base = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(SpikeFileHeader) == 32 && std::is_trivially_copyable_v<SpikeFileHeader>);

struct SpikePacketHeader {
  static constexpr std::uint32_t kMagic = 0x544b5053U;  ///< bytes "SPKT"

  std::uint32_t magic = kMagic;
  std::uint32_t header_crc = 0;  ///< CRC32C of the fields after this one
  std::uint32_t entries_crc = 0;
  std::uint32_t n_entries = 0;  ///< at most kMaxPacketEntries
  std::uint32_t n_spikes = 0;   ///< at most n_entries
  std::uint32_t reserved = 0;
  std::uint64_t sequence = 0;
  Tick start = 0;  ///< time in units of the file header's tick_ps

  [[nodiscard]] std::size_t entries_bytes() const { return std::size_t{n_entries} * 4; }
};
static_assert(sizeof(SpikePacketHeader) == 40 && std::is_trivially_copyable_v<SpikePacketHeader>);

inline constexpr std::uint32_t kMaxPacketEntries = 65536;
inline constexpr std::uint32_t kMaxSpikeDelta = 0x7fff;
inline constexpr std::uint32_t kMaxSpikeOverflow = 0x7fffffff;
inline constexpr std::uint32_t kMaxSpikeLabel = 0xffff;
/// Greatest base with which every label gives a channel of 28 bits.
inline constexpr std::uint32_t kMaxChannelBase = 0x0fffffff - kMaxSpikeLabel;

/// Returns a sealed header. Throws std::invalid_argument when `tick_ps` is 0 or the base exceeds kMaxChannelBase.
SpikeFileHeader make_spike_header(std::uint64_t tick_ps, std::uint32_t channel_base);
/// `bytes`: the start of a file. Throws std::runtime_error that states the defect.
SpikeFileHeader decode_spike_header(std::span<const std::byte> bytes);

/// The packet header at the start of `bytes`; std::nullopt if there is none or it is damaged.
std::optional<SpikePacketHeader> read_packet_header(std::span<const std::byte> bytes);
/// Whether the checksum of the entries matches. `entries` must hold at least entries_bytes().
bool entries_intact(const SpikePacketHeader& header, std::span<const std::byte> entries);
/// Decodes the entries of one packet into `time` and `channel`, which must have room for n_entries each; their contents
/// after the n_spikes decoded spikes are undefined. Returns false if the entries hold a different number of spikes, or
/// times exceed 64 bits.
bool decode_spikes(const SpikePacketHeader& header, std::span<const std::byte> entries, std::uint32_t channel_base,
                   std::span<Tick> time, std::span<std::uint32_t> channel);

/// Packs spikes into packets.
class SpikePacketEncoder {
 public:
  /// `max_entries` of a packet is clamped to 2 to kMaxPacketEntries.
  explicit SpikePacketEncoder(std::uint32_t max_entries);

  /// Adds a spike. Returns false if it does not fit in the open packet, or is too far after the previous spike or
  /// before it; the packet must then be closed first.
  bool add(Tick time, std::uint16_t label);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Appends the open packet (header and entries) to `out`, and begins the next.
  void close(std::vector<std::byte>& out);

 private:
  std::uint32_t max_entries_;
  SpikePacketHeader header_;
  Tick last_ = 0;
  std::vector<std::uint32_t> entries_;
};

}  // namespace eventloom
