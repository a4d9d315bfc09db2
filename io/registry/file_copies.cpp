#include "io/registry/file_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "io/files/byte_stream.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/input_handle.hpp"
#include "io/files/packing.hpp"

namespace eventloom {

namespace {

using Checksum = std::optional<std::uint32_t>;
using Files = std::vector<const UsedFile*>;

/// std::nullopt when `read` cannot read the file: opening the source reports why.
template <class Read>
Checksum checksum_by(Read read) {
  try {
    return read();
  } catch (const UserError&) {
    return std::nullopt;
  }
}

Checksum checksum_of_sample(const std::string& path, std::uint64_t bytes) {
  constexpr std::uint64_t kBlock = 4096;
  return checksum_by([&] {
    InputHandle file(path);
    std::vector<std::byte> block(kBlock);
    std::uint32_t crc = 0;
    for (const auto at : {std::uint64_t{0}, bytes / 2, bytes - std::min(bytes, kBlock)}) {
      crc = crc32c(std::span(block).first(file.read_at(at, block)), crc);
    }
    return crc;
  });
}

Checksum checksum_of_file(const std::string& path) {
  return checksum_by([&] { return describe_file(path).crc32c; });
}

Checksum checksum_of_contents(const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  return checksum_by([&] {
    ByteStream contents(path);
    std::vector<std::byte> block(kBlock);
    std::uint32_t crc = 0;
    while (const auto n = contents.read(block)) crc = crc32c(std::span(block).first(n), crc);
    return crc;
  });
}

/// Appends each of `files` whose checksum equals that of an earlier one.
template <class ChecksumOf>
void add_copies(const Files& files, ChecksumOf checksum_of, std::vector<FileCopy>& copies) {
  if (files.size() < 2) return;
  std::map<std::uint32_t, const UsedFile*> first;
  for (const auto* file : files) {
    const auto checksum = checksum_of(file->path);
    if (!checksum) continue;
    const auto [other, is_new] = first.try_emplace(*checksum, file);
    if (!is_new)
      copies.push_back({file->path, other->second->path, file->source, other->second->source == file->source});
  }
}

}  // namespace

std::vector<FileCopy> find_copies(std::span<const UsedFile> files) {
  constexpr std::uint64_t kLeastBytes = 32;
  std::map<std::tuple<std::uint64_t, std::string>, Files> by_size;
  std::map<std::tuple<std::string, std::string>, Files> by_name;
  for (const auto& file : files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file.path, error)) continue;
    const auto bytes = std::filesystem::file_size(file.path, error);
    if (!error && bytes >= kLeastBytes) by_size[{bytes, file.selection}].push_back(&file);
    by_name[{std::string(without_packed_ending(file.path)), file.selection}].push_back(&file);
  }
  std::vector<FileCopy> copies;
  for (const auto& [key, alike] : by_size) {
    if (alike.size() < 2) continue;
    std::map<Checksum, Files> by_sample;
    for (const auto* file : alike) by_sample[checksum_of_sample(file->path, std::get<0>(key))].push_back(file);
    for (const auto& [sample, similar] : by_sample) add_copies(similar, checksum_of_file, copies);
  }
  for (const auto& [key, alike] : by_name) add_copies(alike, checksum_of_contents, copies);
  return copies;
}

}  // namespace eventloom
