#include "io/files/packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/ending.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

struct Kind {
  Packing packing;
  std::string_view name;
  std::string_view magic;
  std::string_view ending;
  std::string_view command;  ///< unpacks and keeps the file
};

using namespace std::string_view_literals;

constexpr auto kKinds = std::to_array<Kind>({
    {Packing::gzip, "gzip", "\x1f\x8b\x08"sv, ".gz", "gunzip -k"},
    {Packing::zstd, "zstd", "\x28\xb5\x2f\xfd"sv, ".zst", "unzstd"},
    {Packing::lz4, "lz4", "\x04\x22\x4d\x18"sv, ".lz4", "unlz4 -k"},
    {Packing::bzip2, "bzip2", "BZh"sv, ".bz2", "bunzip2 -k"},
    {Packing::xz, "xz", "\xfd\x37zXZ\x00"sv, ".xz", "unxz -k"},
    {Packing::zip, "zip", "PK\x03\x04"sv, ".zip", "unzip"},
});

/// The number at the start of the first block of bzip2, whose magic bytes alone are plain text.
constexpr std::string_view kBzip2Block = "\x31\x41\x59\x26\x53\x59"sv;
constexpr std::size_t kBzip2BlockOffset = 4;

const Kind& kind_of(Packing packing) { return *std::ranges::find(kKinds, packing, &Kind::packing); }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool begins_to_unpack(Packing packing, std::span<const std::byte> head) {
  std::vector<std::byte> out(head.size());
  return make_unpacker(packing)->step(head, out).defect.empty();
}

bool is_of_kind(const Kind& kind, std::span<const std::byte> head) {
  switch (kind.packing) {
    case Packing::xz: return true;
    case Packing::zip: return false;
    case Packing::bzip2:
      return head.size() > kBzip2BlockOffset && text_of(head.subspan(kBzip2BlockOffset)).starts_with(kBzip2Block);
    default: return begins_to_unpack(kind.packing, head);
  }
}

}  // namespace

Packing packing_of(std::span<const std::byte> head, std::string_view path) {
  const auto begins = [head](const Kind& kind) { return text_of(head).starts_with(kind.magic); };
  const auto kind = std::ranges::find_if(kKinds, begins);
  if (kind == kKinds.end()) return Packing::none;
  return ends_with_any_case(path, kind->ending) || is_of_kind(*kind, head) ? kind->packing : Packing::none;
}

bool is_unpacked(Packing packing) {
  return packing == Packing::gzip || packing == Packing::zstd || packing == Packing::lz4;
}

std::string_view name_of(Packing packing) { return kind_of(packing).name; }

std::string_view without_packed_ending(std::string_view path) {
  for (const auto& kind : kKinds) {
    if (ends_with_any_case(path, kind.ending)) return path.substr(0, path.size() - kind.ending.size());
  }
  return path;
}

void refuse_packed(const std::string& path, Packing packing) {
  const auto& kind = kind_of(packing);
  throw UserError("'" + path + "' is compressed (" + std::string(kind.name) +
                  ") and cannot be read so: unpack it first: " + std::string(kind.command) + " '" + path + "'");
}

void require_unpacked(const std::string& path) {
  constexpr std::size_t kHead = 64;
  const auto head = head_of(path, kHead);
  const auto packing = packing_of(std::as_bytes(std::span(head)), path);
  if (packing != Packing::none) refuse_packed(path, packing);
}

}  // namespace eventloom
