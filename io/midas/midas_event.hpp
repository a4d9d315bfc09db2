#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// Events of the MIDAS data acquisition (PSI, TRIUMF), as its logger writes them consecutively to .mid files.
/// Little-endian words:
///
///   event   u16 id | u16 trigger mask | u32 serial number | u32 Unix time, s | u32 bytes that follow
///   banks   u32 bytes of all banks | u32 flags: 1, 16-bit banks; 0x11, 32-bit; 0x31, 32-bit, aligned
///   bank    4 characters of its name | type | bytes of its data | data | zeros up to the next multiple of 8 bytes
///
/// Front ends may send events in their own format (FIXED) instead of banks, or without data.
///
/// The type and length of a bank are u16 each, or u32 each; in aligned banks, an unused u32 follows. Ids from 0x8000 on
/// are used by the logger, with the mask 0x494d and the run number as serial number: 0x8000 begins and 0x8001 ends a
/// run, with the online database as text; 0x8002 is a message, whose mask may be its kind.
///
/// Source: MidasWiki, "Event Structure". Checked against a published dump of an event
/// (bitbucket.org/ttriumfdaq/dsproto_daq/wiki/DataFormat), which is included in the tests.
struct MidasHeader {
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint16_t kBeginOfRun = 0x8000;
  static constexpr std::uint16_t kEndOfRun = 0x8001;
  static constexpr std::uint16_t kMessage = 0x8002;

  std::uint16_t id = 0;
  std::uint16_t mask = 0;
  std::uint32_t serial = 0;
  std::uint32_t seconds = 0;
  std::uint32_t bytes = 0;  ///< number of bytes that follow

  [[nodiscard]] bool of_logger() const { return id >= kBeginOfRun; }
};

/// Size of the header of all banks of an event.
inline constexpr std::size_t kMidasBanksBytes = 8;

struct MidasBank {
  std::uint32_t name = 0;  ///< four characters, the first in the lowest byte
  std::uint32_t type = 0;
  std::span<const std::byte> data;
  std::size_t at = 0;  ///< offset of `data` in the contents of the event, bytes
};

/// `bytes`: at least kBytes.
MidasHeader read_midas_header(std::span<const std::byte> bytes);

/// Whether an event with banks, or one of the logger, begins here, judging by its headers.
bool begins_midas_event(std::span<const std::byte> bytes);

/// Reads the banks of an event whose headers are valid. `contents`: the data after the event's header; the banks point
/// into it. Returns a description of the first defect, or an empty string; the banks before it are valid.
std::string read_midas_banks(std::span<const std::byte> contents, std::vector<MidasBank>& banks);

/// The channel of a bank: its name as a number to base 37. A to Z are digits 0 to 25, 0 to 9 are 26 to 35, others 36.
std::uint32_t midas_channel(std::uint32_t name);
/// Whether other names share the channel of this one.
bool midas_name_is_folded(std::uint32_t name);
/// A name of four characters as a word; std::nullopt for other lengths.
std::optional<std::uint32_t> midas_name(std::string_view text);

}  // namespace eventloom
