#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/files/unpacker.hpp"

namespace eventloom {

/// By the first bytes of a file. Where neither the name ends as such files' do nor the bytes that follow unpack, the
/// resemblance is taken for an accident: records of numbers may begin with any bytes. Of bzip2, xz and zip, which are
/// not unpacked, the first bytes or the name decide.
Packing packing_of(std::span<const std::byte> head, std::string_view path);

/// Whether files packed like this are read.
bool is_unpacked(Packing packing);

/// "gzip", for messages.
std::string_view name_of(Packing packing);

/// The path without the ending of a packed file, in any case: "a.csv" of "a.csv.GZ".
std::string_view without_packed_ending(std::string_view path);

/// Throws UserError that names the packing and says how to unpack the file.
[[noreturn]] void refuse_packed(const std::string& path, Packing packing);

/// Does so when the file is packed: for formats that are not read from front to back. Does nothing when it cannot be
/// opened: opening it reports why.
void require_unpacked(const std::string& path);

}  // namespace eventloom
