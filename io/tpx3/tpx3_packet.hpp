#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace eventloom {

/// The 64-bit little-endian words of Timepix3 detectors with SPIDR readout boards, as saved by SERVAL (.tpx3):
///
///   chunk   63-48 bytes that follow | 39-32 chip | 31-0 "TPX3"
///   0xb     59-44 pixel | 43-30 ToA, 25 ns | 29-20 ToT, 25 ns | 19-16 FToA, 1.5625 ns to subtract | 15-0 SPIDR time
///   0xa     59-44 pixel | 43-30 integrated ToT, 25 ns | 29-20 events | 19-16 hits | 15-0 SPIDR time
///   0x6     59-56 f, a: TDC1 rises, falls; e, b: TDC2 | 55-44 trigger count | 43-9 time, 3.125 ns
///           8-5 fine time, 1 to 12, in steps of 3.125 ns / 12
///   0x44    47-16 low word of the global time, 25 ns | 15-0 SPIDR time
///   0x45    31-16 high word of the global time | 15-0 SPIDR time
///   0x5     59-56 f, a, c: shutter opens, closes; heartbeat | 45-12 time, 25 ns;  0x50: packet count
///   0x7     end of readout
///
/// The SPIDR time counts 409.6 us, or 2^14 steps of the ToA: together 30 bits, 26.8435456 s. The pixel is double column
/// (7 bits), super pixel (6) and pixel (3): x = 2 * column + pixel / 4, y = 4 * super pixel + pixel % 4 (Timepix3
/// manual, table 6.6). Fine times of 0, which older firmware writes, count as 1.
///
/// Source: SERVAL manual 3.2, "raw file format". Checked against the decoders of rustpix-tpx 1.1 (packet.rs) and of
/// K. Gofron's TPX3 parser (tpx3_decoder.cpp).
enum class Tpx3Kind : std::uint8_t { pixel, integrated, tdc, global_low, global_high, other, unknown };

/// Times are in steps of 25 ns / 96: one fine step of the TDC, or 1/6 of an FToA step.
inline constexpr std::uint64_t kTpx3StepsPer25ns = 96;
/// Periods after which times start again.
inline constexpr std::uint64_t kTpx3PixelPeriod = kTpx3StepsPer25ns << 30;
inline constexpr std::uint64_t kTpx3TdcPeriod = 4 * kTpx3PixelPeriod;
inline constexpr std::size_t kTpx3PacketBytes = sizeof(std::uint64_t);

inline std::uint64_t load_tpx3_word(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

class Tpx3Packet {
 public:
  explicit Tpx3Packet(std::uint64_t word) : word_(word) {}

  /// The following functions apply to the word that begins a chunk.
  [[nodiscard]] bool is_header() const { return bits(31, 0) == 0x33585054; }
  [[nodiscard]] std::uint32_t chip() const { return bits(39, 32); }
  [[nodiscard]] std::uint32_t chunk_bytes() const { return bits(63, 48); }
  [[nodiscard]] bool begins_chunk() const { return is_header() && chunk_bytes() % kTpx3PacketBytes == 0; }
  [[nodiscard]] std::uint32_t chunk_packets() const { return chunk_bytes() / kTpx3PacketBytes; }

  /// The following functions apply to words inside a chunk.
  [[nodiscard]] Tpx3Kind kind() const { return bits(63, 60) == 0xb ? Tpx3Kind::pixel : rare_kind(); }
  [[nodiscard]] std::uint32_t x() const { return bits(59, 53) * 2 + bits(46, 44) / 4; }
  [[nodiscard]] std::uint32_t y() const { return bits(52, 47) * 4 + bits(46, 44) % 4; }
  /// ToT, or integrated ToT, in 25 ns.
  [[nodiscard]] std::uint32_t tot() const { return kind() == Tpx3Kind::integrated ? bits(43, 30) : bits(29, 20); }
  /// Time of a pixel; for an integrated one, the SPIDR time.
  [[nodiscard]] std::int64_t pixel_time() const {
    constexpr std::int64_t kFineSteps = 6;
    const std::uint64_t spidr = std::uint64_t{bits(15, 0)} << 14;
    if (kind() == Tpx3Kind::integrated) return static_cast<std::int64_t>(spidr * kTpx3StepsPer25ns);
    return static_cast<std::int64_t>((spidr | bits(43, 30)) * kTpx3StepsPer25ns) - kFineSteps * bits(19, 16);
  }

  /// Edge of a TDC packet: 0 and 1, TDC1 rises and falls; 2 and 3, TDC2; std::nullopt for other codes.
  [[nodiscard]] std::optional<std::uint32_t> edge() const;
  [[nodiscard]] std::uint32_t trigger_count() const { return bits(55, 44); }
  /// Time of a TDC packet; std::nullopt when the fine time is impossible.
  [[nodiscard]] std::optional<std::int64_t> tdc_time() const;

  /// Words of a global time, in 25 ns.
  [[nodiscard]] std::uint64_t global_low() const { return bits(47, 16); }
  [[nodiscard]] std::uint64_t global_high() const { return std::uint64_t{bits(31, 16)} << 32; }
  /// Global time in steps, from the packet with the high word; `low`: the low word.
  [[nodiscard]] std::int64_t global_time(std::uint64_t low) const {
    return static_cast<std::int64_t>((global_high() | low) * kTpx3StepsPer25ns);
  }

 private:
  /// The kind of a packet that is not Tpx3Kind::pixel.
  [[nodiscard]] Tpx3Kind rare_kind() const;
  [[nodiscard]] std::uint32_t bits(unsigned high, unsigned low) const {
    return static_cast<std::uint32_t>(word_ >> low & ((std::uint64_t{1} << (high - low + 1)) - 1));
  }

  std::uint64_t word_;
};

/// Whether a file that begins with `head` begins with a chunk.
bool begins_tpx3_file(std::span<const std::byte> head);

}  // namespace eventloom
