#include "io/files/packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/ending.hpp"
#include "io/files/frame_sequence.hpp"
#include "io/files/input_handle.hpp"
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
    {Packing::lz4, "lz4", "\x02\x21\x4c\x18"sv, ".lz4", "unlz4 -k"},
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

bool begins_to_unpack(std::span<const std::byte> head) {
  std::vector<std::byte> out(head.size());
  const auto unpacker = make_unpacker();
  for (std::size_t given = 0; given < out.size();) {
    const auto step = unpacker->step(head, std::span(out).subspan(given));
    if (!step.defect.empty()) return false;
    if (step.taken == 0 && step.given == 0) break;
    head = head.subspan(step.taken);
    given += step.given;
  }
  return true;
}

/// The first bytes of the first frame that holds data, behind those to be skipped; empty if there is none.
std::vector<std::byte> first_data_frame(std::span<const std::byte> head, const std::string& path) {
  constexpr int kMostSkipped = 1000;
  const auto bytes = std::max(head.size(), kSkippedFrameHead);
  std::vector<std::byte> frame(head.begin(), head.end());
  std::error_code error;
  if (frame_kind(head) != FrameKind::skipped || !std::filesystem::is_regular_file(path, error)) return frame;
  InputHandle file(path);
  std::uint64_t offset = 0;
  for (int n = 0; n < kMostSkipped && frame.size() >= kSkippedFrameHead; ++n) {
    if (frame_kind(frame) != FrameKind::skipped) break;
    offset += skipped_frame_bytes(frame);
    frame.resize(bytes);
    frame.resize(file.read_at(offset, frame));
  }
  return frame;
}

bool is_of_kind(const Kind& kind, std::span<const std::byte> head) {
  switch (kind.packing) {
    case Packing::xz: return true;
    case Packing::zip: return false;
    case Packing::bzip2:
      return head.size() > kBzip2BlockOffset && text_of(head.subspan(kBzip2BlockOffset)).starts_with(kBzip2Block);
    default: return begins_to_unpack(head);
  }
}

}  // namespace

Packing packing_of(std::span<const std::byte> head, const std::string& path) {
  const auto frame = first_data_frame(head, path);
  const auto begins = [&frame](const Kind& kind) { return text_of(frame).starts_with(kind.magic); };
  const auto is_named = [&path](const Kind& kind) { return ends_with_any_case(path, kind.ending); };
  auto kind = std::ranges::find_if(kKinds, begins);
  // The name decides where only frames to be skipped are there, for example in a file that was cut.
  if (kind == kKinds.end() && frame_kind(head) == FrameKind::skipped) kind = std::ranges::find_if(kKinds, is_named);
  if (kind == kKinds.end()) return Packing::none;
  return is_named(*kind) || is_of_kind(*kind, frame) ? kind->packing : Packing::none;
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
