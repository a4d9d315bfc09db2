#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

/// The records of CAEN CoMPASS's binary list mode, little-endian, back to back after two bytes at the start of the
/// file:
///
///   u16 0xCAEx: bit 0 of x: energy, 1: calibrated energy, 2: energy short, 3: waveform
///
///   u16 board, u16 channel, u64 time (ps)
///   u16 energy (channels)              bit 0
///   f64 energy (calibrated)            bit 1
///   u16 energy of the short gate       bit 2
///   u32 flags
///   u8 waveform code                   bit 3
///   u32 number of samples, u16 each    bit 3
///
/// After the CoMPASS User Manual, CAEN UM5960 (rev. 14, page 63, and later), "binary file format"; the order of the
/// fields and the bits are those of two independent readers, legend-daq2lh5 (compass_header_decoder.py,
/// compass_event_decoder.py) and the SPS-SABRE event builder (CompassFile.cpp), which agree. Before version 2 there are
/// neither header nor waveform code: energy, energy short, flags, number of samples (compy 1.0.4, compassrun.py).
struct CompassFormat {
  bool energy = true;
  bool calibrated = false;
  bool energy_short = false;
  bool waveform = false;
  bool is_old = false;  ///< a number of samples without a waveform code

  static constexpr std::size_t kHeaderBytes = 2;

  /// Nothing when the two bytes are not such a header.
  static std::optional<CompassFormat> of_header(std::uint16_t header);
  /// Before version 2.
  static CompassFormat old();

  /// Bytes of a record without its samples.
  [[nodiscard]] std::size_t fixed_bytes() const;
  /// Payload words of a hit.
  [[nodiscard]] std::size_t payload_words() const;
};

/// Flags of an event; UM5960, table of flags.
enum CompassFlag : std::uint32_t {
  kFake = 0x8,            ///< no pulse: made when the time stamp rolls over, for example
  kSaturatedGate = 0x80,  ///< saturated within the gate
  kSaturatedInput = 0x400,
  kPileUp = 0x8000,
};

struct CompassRecord {
  std::uint16_t board = 0;
  std::uint16_t channel = 0;
  std::uint64_t time_ps = 0;
  std::uint16_t energy = 0;
  double calibrated = 0;
  std::uint16_t energy_short = 0;
  std::uint32_t flags = 0;
  std::uint32_t samples = 0;
};

/// `bytes`: at least the fixed ones.
CompassRecord read_compass_record(const CompassFormat& format, std::span<const std::byte> bytes);

/// Whether a file that begins with `head` begins with such a header, and a record that is possible, if it has any.
bool begins_compass_file(std::span<const std::byte> head);

/// Boards that fit the subsystem of a channel.
inline constexpr std::uint16_t kMostCompassBoards = 64;

}  // namespace eventloom
