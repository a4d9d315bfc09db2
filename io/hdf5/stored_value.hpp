#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/runtime/json.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// The type of a dataset or field for people: u32, i64be (big-endian), f64, bool, "enum of u8", "text of 8 bytes",
/// "text", "3 x u16" (an array); a table as "table (time: u64, channel: u16)".
std::string type_text(hid_t type);

/// The first `n` rows of a dataset, at most 8 numbers of each: numbers, texts, or objects for the rows of a table.
/// Empty where rows hold lists, texts or references of variable length. Throws std::runtime_error when they cannot be
/// read.
Json first_rows(hid_t dataset, std::span<const std::uint64_t> shape, std::uint64_t n);

}  // namespace eventloom
