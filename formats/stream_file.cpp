#include "formats/stream_file.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kAlign = 64;

std::uint64_t header_bytes(std::uint64_t text_bytes) {
  return (sizeof(StreamFileHeader) + text_bytes + kAlign - 1) / kAlign * kAlign;
}

std::uint32_t header_crc(std::span<const std::byte> header_and_text) {
  return crc32c(header_and_text.subspan(offsetof(StreamFileHeader, source)));
}

std::uint32_t trailer_crc(const StreamFileTrailer& trailer) {
  return crc32c(std::as_bytes(std::span(&trailer, 1)).first(offsetof(StreamFileTrailer, trailer_crc)));
}

/// The text of a file: names of payload columns, then the text of the header.
std::string stored_text(const StreamHeader& header) {
  std::string names;
  for (const auto& name : header.payload_names) names += (names.empty() ? "" : ",") + name;
  return header.payload_names.empty() ? header.text : names + "\n" + header.text;
}

/// The reverse.
void take_payload_names(StreamHeader& header) {
  header.flags &= ~std::uint32_t{kNamedPayload};
  const auto end = std::min(header.text.find('\n'), header.text.size());
  for (std::size_t begin = 0; begin <= end;) {
    const auto comma = std::min(header.text.find(',', begin), end);
    header.payload_names.push_back(header.text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  header.text.erase(0, end + 1);
}

}  // namespace

std::vector<PayloadKind> first_payload_kinds(std::span<const std::uint32_t> flags) {
  std::vector<PayloadKind> kinds;
  for (const auto of_stream : flags) kinds.push_back(payload_kind(of_stream, 0));
  return kinds;
}

void set_payload(StreamHeader& header, std::span<const PayloadColumn> columns) {
  std::size_t words = 0;
  header.payload_names.clear();
  header.flags &= ~std::uint32_t{kPayloadKinds};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    words += words_of(columns[i].kind);
    header.payload_names.push_back(columns[i].name);
    if (i < kTypedColumns) header.flags |= with_payload_kind(i, columns[i].kind);
  }
  header.payload = PayloadTable::uniform(static_cast<std::uint8_t>(words));
}

std::vector<std::string> payload_type_names(const StreamHeader& header) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.payload_names.size(); ++i)
    names.emplace_back(name_of(payload_kind(header.flags, i)));
  return names;
}

std::vector<std::byte> encode_stream_header(const StreamHeader& header) {
  const auto text = stored_text(header);
  StreamFileHeader fixed;
  fixed.source = header.source;
  fixed.epoch_ticks = header.base.epoch_ticks;
  fixed.tick_ps = header.base.tick_ps;
  fixed.flags = (header.flags & ~std::uint32_t{kNamedPayload}) |
                (header.payload_names.empty() ? 0U : std::uint32_t{kNamedPayload});
  fixed.text_bytes = static_cast<std::uint32_t>(text.size());
  std::ranges::copy(header.payload.words, fixed.payload_words);
  std::vector<std::byte> bytes(header_bytes(text.size()));
  const auto used = std::span(bytes).first(sizeof fixed + text.size());
  std::memcpy(used.data(), &fixed, sizeof fixed);
  std::memcpy(used.data() + sizeof fixed, text.data(), text.size());
  fixed.header_crc = header_crc(used);
  std::memcpy(used.data(), &fixed, sizeof fixed);
  return bytes;
}

DecodedStreamHeader decode_stream_header(std::span<const std::byte> bytes) {
  StreamFileHeader fixed;
  if (bytes.size() < sizeof fixed) throw std::runtime_error("too short for the header of an .epochs file");
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != StreamFileHeader::kMagic) throw std::runtime_error("offset 0: not the magic of an .epochs file");
  if (fixed.version != StreamFileHeader::kVersion) {
    throw std::runtime_error("offset 8: .epochs version " + std::to_string(fixed.version) + ", expected " +
                             std::to_string(StreamFileHeader::kVersion));
  }
  const std::uint64_t end = sizeof fixed + std::uint64_t{fixed.text_bytes};
  if (end > bytes.size() || header_crc(bytes.first(end)) != fixed.header_crc) {
    throw std::runtime_error("offset 12: the checksum of the file header is wrong");
  }
  if (fixed.tick_ps == 0 || fixed.epoch_ticks == 0 || fixed.epoch_ticks > kMaxEpochTicks) {
    throw std::runtime_error("offset 20: tick or epoch length out of range");
  }
  if ((fixed.flags & ~kKnownStreamFlags) != 0) {
    throw std::runtime_error("offset 36: flags " + std::to_string(fixed.flags) + " of a newer .epochs format");
  }
  DecodedStreamHeader out;
  out.header.source = fixed.source;
  out.header.flags = fixed.flags;
  out.header.base = {fixed.tick_ps, fixed.epoch_ticks};
  std::ranges::copy(fixed.payload_words, out.header.payload.words.begin());
  out.header.text.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof fixed, fixed.text_bytes);
  if ((fixed.flags & kNamedPayload) != 0) take_payload_names(out.header);
  out.first_buffer_offset = header_bytes(fixed.text_bytes);
  return out;
}

void seal(StreamFileTrailer& trailer, std::span<const IndexEntry> index) {
  trailer.index_crc = crc32c(std::as_bytes(index));
  trailer.trailer_crc = trailer_crc(trailer);
}

std::optional<IndexView> find_index(std::span<const std::byte> file, bool& damaged) {
  damaged = false;
  IndexView view;
  if (file.size() < sizeof view.trailer) return std::nullopt;
  std::memcpy(&view.trailer, file.data() + file.size() - sizeof view.trailer, sizeof view.trailer);
  const auto& trailer = view.trailer;
  // The checksum, computed with the right magic, still identifies a trailer of which only the magic is damaged.
  const bool magic = trailer.magic == StreamFileTrailer::kMagic;
  auto with_magic = trailer;
  with_magic.magic = StreamFileTrailer::kMagic;
  const bool sealed = trailer.trailer_crc == trailer_crc(with_magic);
  if (!magic && !sealed) return std::nullopt;
  damaged = true;
  const std::uint64_t room = file.size() - sizeof trailer;
  if (!magic || !sealed) return std::nullopt;
  if (trailer.index_offset > room || trailer.index_offset % 8 != 0 ||
      trailer.n_buffers != (room - trailer.index_offset) / sizeof(IndexEntry)) {
    return std::nullopt;
  }
  const auto bytes = file.subspan(trailer.index_offset, trailer.n_buffers * sizeof(IndexEntry));
  if (crc32c(bytes) != trailer.index_crc) return std::nullopt;
  view.entries = {reinterpret_cast<const IndexEntry*>(bytes.data()), trailer.n_buffers};
  damaged = false;
  return view;
}

}  // namespace eventloom
