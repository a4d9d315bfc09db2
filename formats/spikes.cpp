#include "formats/spikes.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kOverflowFlag = 0x80000000U;

/// CRC32C of the `N` bytes at the end of a header.
template <std::size_t N, class Header>
std::uint32_t crc_of_tail(const Header& header) {
  std::uint64_t words[N / 8];
  std::memcpy(words, reinterpret_cast<const std::byte*>(&header) + sizeof header - N, N);
  return crc32c_of_words(words);
}

std::uint32_t crc_of(const SpikeFileHeader& header) { return crc_of_tail<16>(header); }
std::uint32_t crc_of(const SpikePacketHeader& header) { return crc_of_tail<32>(header); }

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

SpikeFileHeader make_spike_header(std::uint64_t tick_ps, std::uint32_t channel_base) {
  if (tick_ps == 0) throw std::invalid_argument("the tick of a spike file must not be 0");
  if (channel_base > kMaxChannelBase) {
    throw std::invalid_argument("the first channel of a spike file must not be above " +
                                std::to_string(kMaxChannelBase));
  }
  SpikeFileHeader header;
  header.tick_ps = tick_ps;
  header.channel_base = channel_base;
  header.header_crc = crc_of(header);
  return header;
}

SpikeFileHeader decode_spike_header(std::span<const std::byte> bytes) {
  SpikeFileHeader header;
  if (bytes.size() < sizeof header) throw std::runtime_error("shorter than the header of a spike file");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != SpikeFileHeader::kMagic) throw std::runtime_error("not a spike file");
  if (header.version != SpikeFileHeader::kVersion) {
    throw std::runtime_error("a spike file of version " + std::to_string(header.version) + "; version 1 can be read");
  }
  if (header.header_crc != crc_of(header)) throw std::runtime_error("the checksum of the header is wrong");
  if (header.tick_ps == 0) throw std::runtime_error("the header states a tick of 0 ps");
  if (header.channel_base > kMaxChannelBase) {
    throw std::runtime_error("the header states a first channel of " + std::to_string(header.channel_base) +
                             ", above " + std::to_string(kMaxChannelBase));
  }
  return header;
}

std::optional<SpikePacketHeader> read_packet_header(std::span<const std::byte> bytes) {
  SpikePacketHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool sealed = header.magic == SpikePacketHeader::kMagic && header.header_crc == crc_of(header);
  if (!sealed || header.n_entries > kMaxPacketEntries || header.n_spikes > header.n_entries) return std::nullopt;
  return header;
}

bool entries_intact(const SpikePacketHeader& header, std::span<const std::byte> entries) {
  return crc32c(entries.first(header.entries_bytes())) == header.entries_crc;
}

bool decode_spikes(const SpikePacketHeader& header, std::span<const std::byte> entries, std::uint32_t channel_base,
                   std::span<Tick> time, std::span<std::uint32_t> channel) {
  Tick passed = 0;
  std::size_t spikes = 0;
  // Every entry is stored as a spike, which avoids branches on the data; if it is not one, the next one overwrites it.
  // Sums stay below 2^47.
  for (std::size_t i = 0; i < header.n_entries; ++i) {
    std::uint32_t entry;
    std::memcpy(&entry, entries.data() + 4 * i, sizeof entry);
    const bool overflow = (entry & kOverflowFlag) != 0;
    passed += Tick(overflow ? entry & kMaxSpikeOverflow : entry >> 16);
    time[spikes] = header.start + passed;
    channel[spikes] = channel_base + (entry & kMaxSpikeLabel);
    spikes += overflow ? 0 : 1;
  }
  return spikes == header.n_spikes && header.start + passed >= header.start;
}

SpikePacketEncoder::SpikePacketEncoder(std::uint32_t max_entries)
    : max_entries_(std::clamp(max_entries, 2U, kMaxPacketEntries)) {
  entries_.reserve(max_entries_);
}

bool SpikePacketEncoder::add(Tick time, std::uint16_t label) {
  if (entries_.empty()) header_.start = last_ = time;
  if (time < last_) return false;
  Tick delta = time - last_;
  const bool overflows = delta > Tick(kMaxSpikeDelta);
  if (delta > Tick(kMaxSpikeOverflow) + Tick(kMaxSpikeDelta)) return false;
  if (entries_.size() + (overflows ? 2 : 1) > max_entries_) return false;
  if (overflows) {
    const auto overflow = static_cast<std::uint32_t>(std::min(delta, Tick(kMaxSpikeOverflow)));
    entries_.push_back(kOverflowFlag | overflow);
    delta -= Tick(overflow);
  }
  entries_.push_back(static_cast<std::uint32_t>(delta) << 16 | label);
  ++header_.n_spikes;
  last_ = time;
  return true;
}

void SpikePacketEncoder::close(std::vector<std::byte>& out) {
  const auto entries = std::as_bytes(std::span(entries_));
  header_.n_entries = static_cast<std::uint32_t>(entries_.size());
  header_.entries_crc = crc32c(entries);
  header_.header_crc = crc_of(header_);
  append(out, std::as_bytes(std::span(&header_, 1)));
  append(out, entries);
  SpikePacketHeader next;
  next.sequence = header_.sequence + 1;
  header_ = next;
  entries_.clear();
}

}  // namespace eventloom
