#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

/// List-mode data (LMD) as written by GSI's Multi Branch System (MBS) and by DABC: the headers s_filhe, s_bufhe,
/// s_ve10_1 and s_ves10_1 of the MBS manuals and DABC's mbs/MbsTypeDefs.h.
///
/// All data are 32-bit words in the writer's byte order. A reader with the other byte order swaps each word and finds
/// 16- and 8-bit fields at their place in the swapped word. The structures below show the little-endian view. Lengths
/// (`dlen`) count 16-bit words and exclude the element's first 8 bytes.
///
///   element      0 dlen u32            4 type u16  6 subtype u16
///   event        0 dlen    4 10/1      8 dummy u16  10 trigger u16   12 number u32            then subevents
///   subevent     0 dlen    4 type      8 procid u16  10 crate u8  11 control u8               then data
///
///   101/1 file                              2000/1 file ("classic")
///   +--------------------------+            +---------------------------+
///   | LmdFlatHeader, 48 bytes  |            | file header: one buffer   |  short where dlen > 16360
///   | more header, 2 * used    |            +---------------------------+
///   +--------------------------+            | LmdBufferHeader, 48 bytes |  buffers of one size
///   | event, event, ...        |            | elements; used words      |
///   +--------------------------+            | slack                     |
///   | 101/2 index, or nothing  |            +---------------------------+
///   +--------------------------+            | ...                       |
///
/// An event that does not fit in the rest of a buffer continues in the next one: its first fragment has the event's
/// header, with the number of words in this buffer; the others are elements of the buffer's type. The event's dlen is
/// the sum of those of its fragments.
namespace eventloom {

struct LmdElement {
  std::uint32_t dlen = 0;  ///< 16-bit words after these 8 bytes
  std::uint16_t type = 0;
  std::uint16_t subtype = 0;

  [[nodiscard]] std::uint64_t bytes() const { return 8 + 2 * std::uint64_t{dlen}; }
  [[nodiscard]] bool is(std::uint16_t t, std::uint16_t s) const { return type == t && subtype == s; }
  [[nodiscard]] bool is_event() const { return is(10, 1); }
  [[nodiscard]] bool is_index() const { return is(101, 2); }
};

struct LmdEventHeader {
  static constexpr std::uint32_t kMinDlen = 4;

  LmdElement element;
  std::uint16_t dummy = 0;
  std::uint16_t trigger = 0;  ///< 1 normal, 12 and 13 spill on and off, 14 and 15 acquisition starts and stops
  std::uint32_t number = 0;
};

struct LmdSubeventHeader {
  static constexpr std::uint32_t kMinDlen = 2;

  LmdElement element;
  std::uint16_t procid = 0;
  std::uint8_t crate = 0;
  std::uint8_t control = 0;
};

/// The buffers of a classic file, and the first 48 bytes of that file's header.
struct LmdBufferHeader {
  LmdElement element;            ///< dlen: half the size after these 48 bytes; type 10/1, or 100/1 by DABC
  std::uint16_t used_short = 0;  ///< 16-bit words of elements, see used()
  std::uint8_t continues = 0;    ///< the first element continues an event of the previous buffer
  std::uint8_t has_more = 0;     ///< the last event continues in the next buffer
  std::uint32_t number = 0;
  std::uint32_t elements = 0;  ///< number of elements, including fragments
  std::uint32_t temporary = 0;
  std::uint32_t seconds = 0;     ///< since 1970
  std::uint32_t fraction = 0;    ///< ms; newer writers: ns
  std::uint32_t byte_order = 0;  ///< 1 in the writer's order; old files may have 0
  std::uint32_t last_dlen = 0;   ///< dlen of the whole last event, if it continues
  std::uint32_t used_long = 0;
  std::uint32_t free = 0;

  /// Longer buffers use the 32-bit field for the number of used words.
  static constexpr std::uint32_t kMaxShortDlen = 16360;
  [[nodiscard]] bool is_long() const { return element.dlen > kMaxShortDlen || element.type == 100; }
  [[nodiscard]] std::uint32_t used() const { return is_long() ? used_long : used_short; }
};

struct LmdFlatHeader {
  static constexpr std::uint32_t kUnknownElements = 0xffffffffU;

  std::uint32_t max_words = 0;  ///< DABC: 0x7ffffff4
  std::uint16_t type = 0;       ///< 101
  std::uint16_t subtype = 0;    ///< 1
  std::uint64_t table = 0;      ///< offset of the index, in units of 4 bytes; 0: none
  std::uint32_t elements = 0;
  std::uint32_t offset_bytes = 0;  ///< size of an offset in the index: 4 or 8
  std::uint32_t seconds = 0;       ///< since 1970
  std::uint32_t nanoseconds = 0;
  std::uint32_t byte_order = 0;     ///< 1
  std::uint32_t written_order = 0;  ///< 1 little-endian, 2 big-endian, 0 unknown
  std::uint32_t used = 0;           ///< 16-bit words of header that follow, in no defined byte order
  std::uint32_t free = 0;
};

/// Size of the index before its offsets: n + 1 offsets in units of 4 bytes, of which the last is that of the index.
inline constexpr std::size_t kLmdIndexHeaderBytes = 16;
inline constexpr std::size_t kLmdHeaderBytes = 48;  ///< size of a file or buffer header

static_assert(sizeof(LmdElement) == 8 && sizeof(LmdEventHeader) == 16 && sizeof(LmdSubeventHeader) == 12);
static_assert(sizeof(LmdBufferHeader) == kLmdHeaderBytes && sizeof(LmdFlatHeader) == kLmdHeaderBytes);
static_assert(std::endian::native == std::endian::little);

/// Loads a header from the start of `bytes`, which must contain it; any alignment.
template <class Header>
Header load_lmd(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Header>);
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Copies `from` to `to` and swaps the bytes of each whole 32-bit word; a remainder is copied unchanged.
inline void swap_lmd_words(std::span<const std::byte> from, std::byte* to) {
  const std::size_t whole = from.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, from.data() + i, sizeof word);
    word = __builtin_bswap32(word);
    std::memcpy(to + i, &word, sizeof word);
  }
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(whole), from.end(), to + whole);
}

/// A subevent's id: control << 24 | crate << 16 | procid.
constexpr std::uint32_t lmd_id(std::uint8_t control, std::uint8_t crate, std::uint16_t procid) {
  return std::uint32_t{control} << 24 | std::uint32_t{crate} << 16 | procid;
}
/// The channel of a subevent's hit. If control or crate exceeds 63, two ids may share a channel.
constexpr std::uint32_t lmd_channel(std::uint32_t id) {
  return (id >> 24 & 0x3fU) << 22 | (id >> 16 & 0x3fU) << 16 | (id & 0xffffU);
}
constexpr bool lmd_id_is_folded(std::uint32_t id) { return (id & 0xc0c00000U) != 0; }
/// The channel of an event without subevents.
inline constexpr std::uint32_t kLmdEmptyEventChannel = 0x0fffffffU;

/// Payload of a hit, 32-bit words:
///   0 words that follow | 1 trigger << 16 | dummy | 2 event number
/// and, unless it represents an event without subevents,
///   3 dlen | 4 subtype << 16 | type | 5 id | data; an odd last 16-bit word is zero-padded
inline constexpr std::size_t kLmdEventWords = 3;
inline constexpr std::size_t kLmdItemWords = 6;  ///< number of words before the data
inline constexpr std::size_t kLmdIdWord = 5;

}  // namespace eventloom
