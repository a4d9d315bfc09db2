#include "formats/datagram.hpp"

#include <algorithm>
#include <cstring>

#include "formats/crc32c.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kCrcEnd = offsetof(DatagramHeader, crc) + sizeof(DatagramHeader::crc);
constexpr std::size_t kHeaderFile = sizeof(StreamFileHeader);

std::uint32_t datagram_crc(const DatagramHeader& header, std::span<const std::byte> contents) {
  return crc32c(contents, crc32c(std::as_bytes(std::span(&header, 1)).subspan(kCrcEnd)));
}

bool fragment_fits(const DatagramHeader& header, std::size_t bytes) {
  const std::uint32_t whole = header.buffer_bytes;
  if (whole < sizeof(EpochBufferHeader) || whole % 8 != 0 || whole > kMaxSentBufferBytes) return false;
  return bytes > 0 && header.offset <= whole && bytes <= whole - header.offset;
}

bool contents_fit(const DatagramHeader& header, std::size_t bytes) {
  if (header.kind == DatagramKind::data) return fragment_fits(header, bytes);
  if (header.offset != 0 || header.buffer_bytes != 0) return false;
  switch (header.kind) {
    case DatagramKind::header: return header.sequence == 0 && bytes >= sizeof(std::int64_t) + kHeaderFile;
    case DatagramKind::mark:
    case DatagramKind::end: return bytes == sizeof(DatagramMark);
    default: return false;
  }
}

}  // namespace

void seal(DatagramHeader& header, std::span<const std::byte> contents) { header.crc = datagram_crc(header, contents); }

std::span<std::byte> compose_datagram(DatagramHeader& header, std::span<const std::byte> contents,
                                      std::span<std::byte> out) {
  seal(header, contents);
  const auto datagram = out.first(sizeof header + contents.size());
  std::memcpy(datagram.data(), &header, sizeof header);
  std::ranges::copy(contents, datagram.begin() + sizeof header);
  return datagram;
}

std::vector<std::byte> encode_datagram_stream(const DatagramStream& stream, std::size_t datagram_bytes) {
  constexpr std::size_t kAlign = 64;  // alignment of the stream's header with its text
  DatagramExtension extension{.capabilities = DatagramExtension::kResends};
  if (stream.begins) extension.capabilities |= DatagramExtension::kBegins;
  const std::size_t extended = stream.resends ? sizeof extension : 0;
  const std::size_t room = datagram_bytes - sizeof(DatagramHeader) - sizeof stream.started_ns - extended;
  StreamHeader header = stream.header;
  header.text.resize(std::min(header.text.size(), room / kAlign * kAlign - kHeaderFile));
  const auto encoded = encode_stream_header(header);
  std::vector<std::byte> contents(sizeof stream.started_ns + encoded.size() + extended);
  std::memcpy(contents.data(), &stream.started_ns, sizeof stream.started_ns);
  std::ranges::copy(encoded, contents.begin() + sizeof stream.started_ns);
  std::memcpy(contents.data() + contents.size() - extended, &extension, extended);
  return contents;
}

std::optional<Datagram> read_framed(std::span<const std::byte> bytes) {
  Datagram datagram;
  auto& header = datagram.header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  datagram.contents = bytes.subspan(sizeof header);
  if (header.magic != DatagramHeader::kMagic || header.version != DatagramHeader::kVersion) return std::nullopt;
  if (header.reserved != 0 || header.reserved_too != 0) return std::nullopt;
  if (header.crc != datagram_crc(header, datagram.contents)) return std::nullopt;
  return datagram;
}

std::optional<Datagram> read_datagram(std::span<const std::byte> bytes) {
  auto datagram = read_framed(bytes);
  if (datagram && !contents_fit(datagram->header, datagram->contents.size())) datagram.reset();
  return datagram;
}

DatagramMark mark_of(const Datagram& datagram) {
  DatagramMark mark;
  std::memcpy(&mark, datagram.contents.data(), sizeof mark);
  return mark;
}

DatagramStream stream_of(const Datagram& datagram) {
  DatagramStream stream;
  std::memcpy(&stream.started_ns, datagram.contents.data(), sizeof stream.started_ns);
  const auto rest = datagram.contents.subspan(sizeof stream.started_ns);
  auto decoded = decode_stream_header(rest);
  stream.header = std::move(decoded.header);
  DatagramExtension extension{.magic = 0};
  if (rest.size() >= decoded.first_buffer_offset + sizeof extension) {
    std::memcpy(&extension, rest.data() + decoded.first_buffer_offset, sizeof extension);
  }
  stream.resends =
      extension.magic == DatagramExtension::kMagic && (extension.capabilities & DatagramExtension::kResends) != 0;
  stream.begins = stream.resends && (extension.capabilities & DatagramExtension::kBegins) != 0;
  return stream;
}

}  // namespace eventloom
