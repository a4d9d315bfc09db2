#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/files/unpacker.hpp"

namespace eventloom {

/// Recognises the packing by the first bytes of a file. Frames to be skipped before zstd and lz4 data do not count: the
/// file at `path` is read up to the first other frame. Records of numbers may begin with any bytes: unless the name has
/// the packing's ending, the bytes that follow must also unpack (gzip, zstd, lz4) or begin a block (bzip2). The magic
/// bytes alone decide for xz; zip always needs the ending.
Packing packing_of(std::span<const std::byte> head, const std::string& path);

/// Whether the program can unpack this packing.
bool is_unpacked(Packing packing);

/// Name for messages, such as "gzip".
std::string_view name_of(Packing packing);

/// The path without the ending of a packed file, ignoring case: "a.csv" for "a.csv.GZ".
std::string_view without_packed_ending(std::string_view path);

/// Throws UserError that names the packing and the command that unpacks the file.
[[noreturn]] void refuse_packed(const std::string& path, Packing packing);

/// Throws UserError when the file is packed; for formats that are not read sequentially. Does nothing if the file
/// cannot be opened; opening it reports why.
void require_unpacked(const std::string& path);

}  // namespace eventloom
