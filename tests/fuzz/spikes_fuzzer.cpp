#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "formats/spikes.hpp"
#include "fuzz_input.hpp"
#include "io/spikes/spikes_reader.hpp"

/// The input is a spike file. The mutator below reseals what has been changed, since otherwise no code after a checksum
/// would ever be reached; it also moves whole packets and renumbers them.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace eventloom;
using Bytes = std::vector<std::byte>;
using Random = std::minstd_rand;

void check(const HitBlock& block, std::uint64_t file_bytes) {
  fuzz::require(block.size() != 0 || !block.losses.empty(), "a block is not empty");
  fuzz::require(block.channel.size() == block.size() && block.payload.empty(), "the columns have equal lengths");
  for (const auto channel : block.channel) fuzz::require(channel <= 0x0fffffff, "a channel has 28 bits");
  std::size_t before = 0;
  for (const auto& loss : block.losses) {
    fuzz::require(loss.before >= before && loss.before <= block.size(), "losses are in the order of the file");
    fuzz::require(loss.offset <= file_bytes, "losses lie in the file");
    before = loss.before;
  }
}

void read_all(const std::string& path, const char* keys, const TimeBase& base, std::uint64_t file_bytes) {
  try {
    const auto reader = open_spikes(SourceUri::parse("spikes:" + path + keys), {0}, base);
    HitBlock block;
    std::uint64_t hits = 0;
    while (reader->read(block)) {
      check(block, file_bytes);
      hits += block.size();
    }
    fuzz::require(!reader->read(block), "the end stays the end");
    fuzz::require(hits * 4 <= file_bytes, "a spike takes 4 bytes at least");
    (void)reader->counts();
  } catch (const UserError&) {
    return;  // not a spike file, or times that are not whole ticks
  }
}

template <class T>
T load(const Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void store(Bytes& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// CRC32C of a header without its first `front` bytes.
template <class Header>
std::uint32_t tail_crc(const Header& header, std::size_t front) {
  return crc32c(std::as_bytes(std::span(&header, 1)).subspan(front));
}

void seal_head(Bytes& head) {
  auto header = load<SpikeFileHeader>(head, 0);
  header.magic = SpikeFileHeader::kMagic;
  header.version = SpikeFileHeader::kVersion;
  header.header_crc = tail_crc(header, 16);
  store(head, 0, header);
}

/// Updates a packet's header to match its contents.
void seal_packet(Bytes& packet, Random& random) {
  auto header = load<SpikePacketHeader>(packet, 0);
  header.magic = SpikePacketHeader::kMagic;
  header.n_entries = static_cast<std::uint32_t>((packet.size() - sizeof header) / 4);
  const bool honest = random() % 8 != 0;
  if (honest) header.n_spikes = 0;
  for (std::uint32_t i = 0; honest && i < header.n_entries; ++i) {
    header.n_spikes += load<std::uint32_t>(packet, sizeof header + std::size_t{i} * 4) >> 31 == 0 ? 1 : 0;
  }
  header.entries_crc = crc32c(std::span(packet).subspan(sizeof header, header.entries_bytes()));
  header.header_crc = tail_crc(header, 8);
  store(packet, 0, header);
}

/// Packets as their headers delimit them, the last one with the remaining bytes.
std::vector<Bytes> take_packets(const Bytes& file, std::size_t at) {
  std::vector<Bytes> packets;
  while (file.size() - at >= sizeof(SpikePacketHeader)) {
    const auto header = load<SpikePacketHeader>(file, at);
    const std::size_t wanted = sizeof header + header.entries_bytes();
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t size = std::min(wanted, file.size() - at);
    packets.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
    at += size;
  }
  return packets;
}

void move_packets(std::vector<Bytes>& packets, Random& random) {
  if (packets.empty()) return;
  const auto a = random() % packets.size();
  const auto b = random() % packets.size();
  switch (random() % 3) {
    case 0: std::swap(packets[a], packets[b]); break;
    case 1: packets.erase(packets.begin() + static_cast<std::ptrdiff_t>(a)); break;
    default: {
      auto copy = packets[a];
      packets.insert(packets.begin() + static_cast<std::ptrdiff_t>(b), std::move(copy));
    }
  }
}

Bytes repaired(const Bytes& file, Random& random) {
  Bytes out(file.begin(), file.begin() + sizeof(SpikeFileHeader));
  auto packets = take_packets(file, sizeof(SpikeFileHeader));
  if (random() % 4 == 0) move_packets(packets, random);
  const bool number = random() % 4 == 0;
  for (std::uint64_t i = 0; i < packets.size(); ++i) {
    if (number) store(packets[i], offsetof(SpikePacketHeader, sequence), i);
    if (random() % 16 != 0) seal_packet(packets[i], random);
  }
  if (random() % 32 != 0) seal_head(out);
  for (const auto& packet : packets) out.insert(out.end(), packet.begin(), packet.end());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size < sizeof(SpikeFileHeader) || random() % 16 == 0) return size;
  Bytes file(size);
  std::memcpy(file.data(), data, size);
  file = repaired(file, random);
  if (file.size() > max_size) return size;
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  read_all(file.path(), "", {}, size);
  read_all(file.path(), "?round=nearest&label=0", {.tick_ps = 7}, size);
  return 0;
}
