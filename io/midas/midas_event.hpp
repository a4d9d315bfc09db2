#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// Events of the MIDAS data acquisition (PSI, TRIUMF), as its logger writes them one after the other to .mid files.
/// Little-endian words:
///
///   event   u16 id | u16 trigger mask | u32 serial number | u32 Unix time, s | u32 bytes that follow
///   banks   u32 bytes of all banks | u32 flags: 1, banks of 16 bits; 0x11, of 32 bits; 0x31, of 32 bits, aligned
///   bank    4 characters of its name | type | bytes of its data | data | zeros up to the next multiple of 8 bytes
///
/// Front ends may send events in a format of their own (FIXED) instead of banks, or without any data.
///
/// Type and length of a bank are u16 each, or u32 each; where they are aligned, a u32 without meaning follows. Ids from
/// 0x8000 on are the logger's own, with the mask 0x494d and the run's number as serial number: 0x8000 begins and 0x8001
/// ends a run, with the online database as text; 0x8002 is a message, whose mask may be its kind.
///
/// After the MidasWiki, "Event Structure", and checked against a published dump of an event
/// (bitbucket.org/ttriumfdaq/dsproto_daq/wiki/DataFormat), which is in the tests.
struct MidasHeader {
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint16_t kBeginOfRun = 0x8000;
  static constexpr std::uint16_t kEndOfRun = 0x8001;
  static constexpr std::uint16_t kMessage = 0x8002;

  std::uint16_t id = 0;
  std::uint16_t mask = 0;
  std::uint32_t serial = 0;
  std::uint32_t seconds = 0;
  std::uint32_t bytes = 0;  ///< that follow

  [[nodiscard]] bool of_logger() const { return id >= kBeginOfRun; }
};

/// Header of all banks of an event.
inline constexpr std::size_t kMidasBanksBytes = 8;

struct MidasBank {
  std::uint32_t name = 0;  ///< its characters, the first in the lowest byte
  std::uint32_t type = 0;
  std::span<const std::byte> data;
};

/// `bytes`: kBytes at least.
MidasHeader read_midas_header(std::span<const std::byte> bytes);

/// Whether an event with banks, or one of the logger, begins here; as far as its headers tell.
bool begins_midas_event(std::span<const std::byte> bytes);

/// The banks of an event whose headers are valid. `contents`: what follows the event's header; the banks point into it.
/// Returns what is wrong, empty when nothing is; banks before that are valid.
std::string read_midas_banks(std::span<const std::byte> contents, std::vector<MidasBank>& banks);

/// Of a bank: the characters A to Z are 0 to 25, 0 to 9 are 26 to 35, and others 36, as digits of a number to base 37.
std::uint32_t midas_channel(std::uint32_t name);
/// Whether other names have that channel, too.
bool midas_name_is_folded(std::uint32_t name);
/// The word of a name of four characters; nothing of any other.
std::optional<std::uint32_t> midas_name(std::string_view text);

}  // namespace eventloom
