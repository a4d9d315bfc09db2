#include "formats/trb.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "formats/hld.hpp"

namespace eventloom {

namespace {

static_assert(std::endian::native == std::endian::little);

/// Whether the trailer after a unit repeats the start of the datagram. If the unit is shorter than the trailer, the
/// rest of the trailer repeats its own beginning, or is zero.
bool is_repeated(std::span<const std::byte> datagram, std::size_t unit) {
  const auto trailer = datagram.subspan(unit);
  if (std::memcmp(trailer.data(), datagram.data(), kTrbTrailerBytes) == 0) return true;
  return unit < kTrbTrailerBytes && std::memcmp(trailer.data(), datagram.data(), unit) == 0 &&
         std::ranges::all_of(trailer.subspan(unit), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

std::optional<std::span<const std::byte>> read_trb_datagram(std::span<const std::byte> datagram) {
  const auto size = read_hld_size(datagram);
  if (!size || *size < kTrbUnitHeaderBytes) return std::nullopt;
  const auto unit = hld_padded(*size);
  if (datagram.size() != unit + kTrbTrailerBytes || !is_repeated(datagram, unit)) return std::nullopt;
  return datagram.subspan(kTrbUnitHeaderBytes, *size - kTrbUnitHeaderBytes);
}

void append_trb_datagram(std::span<const std::byte> subevents, std::vector<std::byte>& out) {
  const auto begin = out.size();
  const auto size = kTrbUnitHeaderBytes + subevents.size();
  const auto unit = hld_padded(size);
  out.resize(begin + unit + kTrbTrailerBytes);
  auto* const datagram = out.data() + begin;
  const std::uint32_t head[] = {__builtin_bswap32(static_cast<std::uint32_t>(size)),
                                __builtin_bswap32(kTrbUnitDecoding)};
  std::memcpy(datagram, head, sizeof head);
  std::ranges::copy(subevents, datagram + kTrbUnitHeaderBytes);
  // Copied byte by byte, since the trailer of a short unit repeats its own beginning.
  for (std::size_t i = 0; i < kTrbTrailerBytes; ++i) datagram[unit + i] = datagram[i];
}

}  // namespace eventloom
