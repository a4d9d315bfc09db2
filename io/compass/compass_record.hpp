#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

/// The records of CAEN CoMPASS's binary list mode, little-endian, back to back after two header bytes at the start of
/// the file:
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
/// Source: CoMPASS User Manual, CAEN UM5960 (rev. 14, page 63, and later), "binary file format". The order of the
/// fields and the bits follows two independent readers that agree, legend-daq2lh5 (compass_header_decoder.py,
/// compass_event_decoder.py) and the SPS-SABRE event builder (CompassFile.cpp). Before version 2, there is no header
/// and no waveform code: energy, energy short, flags, number of samples (compy 1.0.4, compassrun.py).
struct CompassFormat {
  bool energy = true;
  bool calibrated = false;
  bool energy_short = false;
  bool waveform = false;
  bool is_old = false;  ///< a number of samples, but no waveform code

  static constexpr std::size_t kHeaderBytes = 2;

  /// std::nullopt when the two bytes are not such a header.
  static std::optional<CompassFormat> of_header(std::uint16_t header);
  /// The format before version 2.
  static CompassFormat old();

  /// Size of a record without its samples, bytes.
  [[nodiscard]] std::size_t fixed_bytes() const;
  /// Payload words per hit.
  [[nodiscard]] std::size_t payload_words() const;
};

/// Flags of an event; UM5960, table of flags. Other flags mean that the time stamp has rolled over (0x2), was reset
/// externally (0x4) or has a fine part (0x4000), that a number of triggers has been counted (0x100, 0x800), or that the
/// event has no partner in CoMPASS's own coincidence (0x1000).
enum CompassFlag : std::uint32_t {
  kDeadTime = 0x1,        ///< the board lost events before this one
  kFake = 0x8,            ///< not a pulse: generated when the time stamp rolls over, for example
  kMemoryFull = 0x10,     ///< events were lost, as with kDeadTime
  kTriggerLost = 0x20,    ///< likewise, a trigger
  kTriggersLost = 0x40,   ///< likewise, the number of triggers set in a register
  kSaturatedGate = 0x80,  ///< saturated within the gate
  kSaturatedInput = 0x400,
  kPileUp = 0x8000,
  kLostLock = 0x80000,     ///< a fake event: the PLL has lost its lock
  kOverheated = 0x100000,  ///< a fake event: over-temperature
  kShutDown = 0x200000,    ///< a fake event: ADC shutdown
};

struct CompassRecord {
  std::uint32_t board = 0;
  std::uint32_t channel = 0;
  std::uint64_t time_ps = 0;
  std::uint16_t energy = 0;
  double calibrated = 0;
  std::uint16_t energy_short = 0;
  std::uint32_t flags = 0;
  std::uint32_t samples = 0;
};

/// `bytes`: at least fixed_bytes().
CompassRecord read_compass_record(const CompassFormat& format, std::span<const std::byte> bytes);

/// Whether a file that begins with `head` begins with such a header and, if it has records, a plausible one.
bool begins_compass_binary(std::span<const std::byte> head);

/// Whether `head`, the first bytes of a file without a header, holds only plausible records of this format.
bool are_compass_records(const CompassFormat& format, std::span<const std::byte> head);

/// Numbers of boards that fit the subsystem of a channel, and of channels.
inline constexpr std::uint32_t kMostCompassBoards = 64;
inline constexpr std::uint32_t kMostCompassChannels = 65536;

}  // namespace eventloom
