#include "io/midas/midas_event.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace eventloom {

namespace {

constexpr std::uint32_t kBase = 37;
constexpr std::uint32_t kOther = kBase - 1;
constexpr std::uint16_t kLoggersMask = 0x494d;
constexpr std::uint32_t kBanks16 = 0x01;
constexpr std::uint32_t kBanks32 = 0x11;
constexpr std::uint32_t kBanks32Aligned = 0x31;

template <class Word>
Word load(std::span<const std::byte> bytes, std::size_t at) {
  Word word{};
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

std::size_t header_bytes(std::uint32_t flags) {
  if (flags == kBanks16) return 8;
  return flags == kBanks32 ? 12 : 16;
}

std::array<char, 4> characters(std::uint32_t name) {
  std::array<char, 4> all{};
  std::memcpy(all.data(), &name, sizeof name);
  return all;
}

std::uint32_t digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  return c >= '0' && c <= '9' ? static_cast<std::uint32_t>(c - '0') + 26 : kOther;
}

}  // namespace

MidasHeader read_midas_header(std::span<const std::byte> bytes) {
  return {.id = load<std::uint16_t>(bytes, 0),
          .mask = load<std::uint16_t>(bytes, 2),
          .serial = load<std::uint32_t>(bytes, 4),
          .seconds = load<std::uint32_t>(bytes, 8),
          .bytes = load<std::uint32_t>(bytes, 12)};
}

bool begins_midas_event(std::span<const std::byte> bytes) {
  if (bytes.size() < MidasHeader::kBytes) return false;
  const auto header = read_midas_header(bytes);
  if (header.of_logger()) return header.id <= MidasHeader::kMessage && header.mask == kLoggersMask;
  if (header.bytes < kMidasBanksBytes || bytes.size() < MidasHeader::kBytes + kMidasBanksBytes) return false;
  const auto flags = load<std::uint32_t>(bytes, MidasHeader::kBytes + 4);
  return load<std::uint32_t>(bytes, MidasHeader::kBytes) == header.bytes - kMidasBanksBytes &&
         (flags == kBanks16 || flags == kBanks32 || flags == kBanks32Aligned);
}

std::string read_midas_banks(std::span<const std::byte> contents, std::vector<MidasBank>& banks) {
  banks.clear();
  const auto flags = load<std::uint32_t>(contents, 4);
  const auto header = header_bytes(flags);
  for (auto rest = contents.subspan(kMidasBanksBytes); !rest.empty();) {
    if (rest.size() < header) return std::to_string(rest.size()) + " bytes after its last bank";
    const bool narrow = flags == kBanks16;
    const std::size_t bytes = narrow ? load<std::uint16_t>(rest, 6) : load<std::uint32_t>(rest, 8);
    if (bytes > rest.size() - header) {
      return "a bank of " + std::to_string(bytes) + " bytes where " + std::to_string(rest.size() - header) +
             " are left";
    }
    banks.push_back({.name = load<std::uint32_t>(rest, 0),
                     .type = narrow ? load<std::uint16_t>(rest, 4) : load<std::uint32_t>(rest, 4),
                     .data = rest.subspan(header, bytes),
                     .at = contents.size() - rest.size() + header});
    rest = rest.subspan(std::min(rest.size(), header + (bytes + 7) / 8 * 8));
  }
  return {};
}

std::uint32_t midas_channel(std::uint32_t name) {
  std::uint32_t channel = 0;
  for (const char c : characters(name)) channel = channel * kBase + digit_of(c);
  return channel;
}

bool midas_name_is_folded(std::uint32_t name) {
  return std::ranges::any_of(characters(name), [](char c) { return digit_of(c) == kOther; });
}

std::optional<std::uint32_t> midas_name(std::string_view text) {
  std::uint32_t name = 0;
  if (text.size() != sizeof name) return std::nullopt;
  std::memcpy(&name, text.data(), sizeof name);
  return name;
}

}  // namespace eventloom
