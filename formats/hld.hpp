#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// HADES list-mode data (HLD), as DABC's HADES plug-in and the HADES event builders write it: consecutive events, no
/// file header.
///
///   event, 32 bytes                       subevent, 16 bytes
///    0 u32 size                            0 u32 size
///    4 u32 decoding, 0x00030001            4 u32 decoding, bits 16-23: log2 of the word length in bytes,
///    8 u32 id                                  4-7: trigger type of a TRB3 (0x00020011: 32-bit words)
///   12 u32 event number                    8 u32 id, bit 31: error
///   16 u32 date  year-1900 | month0 | day 12 u32 trigger number << 8 | tag
///   20 u32 time  0 | h | min | s          16 data, words of the subevent's byte order
///   24 u32 run
///   28 u32 unused
///   32 subevents
///
///   id of an event  31   30..16  15..12    11..4  3..0
///                   error        version          trigger type
///
/// Sizes are in bytes and include the header; the next unit begins at the size rounded up to 8. An event and each of
/// its subevents has its own byte order, the one in which the decoding is at most 0xffffff. The size of an event may
/// exclude the padding of its last subevent. Events with id 0x00010002 and 0x00010003 mark the beginning and end of a
/// run; they have no data.
namespace eventloom {

inline constexpr std::size_t kHldEventHeaderBytes = 32;
inline constexpr std::size_t kHldSubeventHeaderBytes = 16;
inline constexpr std::uint32_t kHldEventDecoding = 0x00030001;
inline constexpr std::uint32_t kHldBeginRun = 0x00010002;
inline constexpr std::uint32_t kHldEndRun = 0x00010003;
inline constexpr std::uint32_t kHldErrorBit = 0x80000000;
/// Maximum size of a unit; a larger one counts as damaged.
inline constexpr std::uint32_t kHldMaxBytes = 256U << 20;

struct HldEventHeader {
  std::uint32_t size = 0;
  std::uint32_t decoding = 0;
  std::uint32_t id = 0;
  std::uint32_t number = 0;
  std::uint32_t date = 0;
  std::uint32_t time = 0;
  std::uint32_t run = 0;
  bool big_endian = false;

  [[nodiscard]] std::uint32_t trigger() const { return id & 0xfU; }
  [[nodiscard]] bool has_error() const { return (id & kHldErrorBit) != 0; }
  [[nodiscard]] bool begins_run() const { return (id & ~kHldErrorBit) == kHldBeginRun; }
  [[nodiscard]] bool ends_run() const { return (id & ~kHldErrorBit) == kHldEndRun; }
};

struct HldSubeventHeader {
  std::uint32_t size = 0;
  std::uint32_t decoding = 0;
  std::uint32_t id = 0;
  std::uint32_t trigger_number = 0;  ///< the whole word: number << 8 | tag
  bool big_endian = false;

  [[nodiscard]] bool has_error() const { return (id & kHldErrorBit) != 0; }
  /// Trigger type of a TRB3.
  [[nodiscard]] std::uint32_t trigger() const { return decoding >> 4 & 0xfU; }
  /// log2 of the word length in bytes.
  [[nodiscard]] std::uint32_t word_log2() const { return decoding >> 16 & 0xffU; }
  /// Word length of the data. If the size is not a multiple of it, the last word is incomplete.
  [[nodiscard]] std::size_t word_bytes() const { return std::size_t{1} << word_log2(); }
};
/// The longest known words have 8 bytes.
inline constexpr std::uint32_t kHldMaxWordLog2 = 3;

/// Distance from a unit of `size` bytes to the next.
constexpr std::uint64_t hld_padded(std::uint64_t size) { return (size + 7) & ~std::uint64_t{7}; }

/// The header at the start of `bytes`; std::nullopt if they are too few or the decoding shows no byte order. Sizes are
/// not checked.
std::optional<HldEventHeader> read_hld_event_header(std::span<const std::byte> bytes);
std::optional<HldSubeventHeader> read_hld_subevent_header(std::span<const std::byte> bytes);
/// The size in the first word of any unit whose second word is its decoding, with the same checks.
std::optional<std::uint32_t> read_hld_size(std::span<const std::byte> bytes);

/// Copies data and reverses the bytes of each word of `word_bytes` (1, 2, 4 or 8); an incomplete word is copied
/// unchanged. `out` must have the size of `data` and not overlap it.
void copy_hld_reversed(std::span<const std::byte> data, std::size_t word_bytes, std::byte* out);

/// Words of TRB3 boards inside a subevent form subsubevents, each a header and its words. The words of a TDC:
///
///   31  29 28        22 21        12 11 10         0
///   001    header
///   011    epoch counter of 28 bits, steps of 10.24 us; valid for the times after it
///   1..    channel 7  | fine time 10 | 1 | coarse 11    a time; bit 11: rising edge; coarse in steps of 5 ns
///   010    debugging
///   000    trailer
struct TrbHead {
  std::uint32_t words = 0;    ///< number of words that follow
  std::uint32_t address = 0;  ///< address of the board or FPGA, 16 bits
};
constexpr TrbHead trb_head(std::uint32_t word) { return {.words = word >> 16, .address = word & 0xffffU}; }

enum class TdcWord : std::uint32_t { trailer = 0, header = 1, debug = 2, epoch = 3 };  ///< 4 and above: time
constexpr std::uint32_t tdc_kind(std::uint32_t word) { return word >> 29; }
constexpr bool is_tdc_word(std::uint32_t word, TdcWord kind) {
  return tdc_kind(word) == static_cast<std::uint32_t>(kind);
}
constexpr bool is_tdc_time(std::uint32_t word) { return word >> 31 != 0; }
constexpr std::uint32_t tdc_epoch(std::uint32_t word) { return word & 0x0fffffffU; }
constexpr std::uint32_t tdc_channel(std::uint32_t word) { return word >> 22 & 0x7fU; }
constexpr std::uint32_t tdc_coarse(std::uint32_t word) { return word & 0x7ffU; }
inline constexpr std::uint32_t kTdcEpochBits = 28;
inline constexpr std::uint32_t kTdcCoarseBits = 11;
/// Picoseconds in a step of the coarse time.
inline constexpr std::uint64_t kTdcCoarsePs = 5000;

}  // namespace eventloom
