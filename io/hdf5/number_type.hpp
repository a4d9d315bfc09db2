#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "io/hdf5/handle.hpp"
#include "io/hdf5/stored_number.hpp"

namespace eventloom {

/// How numbers of a type are stored, and read.
struct NumberType {
  bool is_float = false;
  bool is_signed = false;
  std::size_t bytes = 0;  ///< size in the file
  unsigned digits = 0;    ///< precision of floating-point numbers, in bits
  hid_t in_memory = -1;   ///< 64 bits: double, or an integer of the same sign
};

/// Integers and floating-point numbers of up to 64 bits. Enumerations are their numbers, as are the booleans that h5py
/// writes; bit fields, the booleans of PyTables, are integers from 0. std::nullopt for any other type.
std::optional<NumberType> number_type(hid_t type);

/// `bits`: a number that was read as `type.in_memory`.
StoredNumber number_of(std::uint64_t bits, const NumberType& type);

}  // namespace eventloom
