#include "io/hdf5/number_type.hpp"

#include <hdf5.h>

#include <array>
#include <bit>
#include <charconv>

namespace eventloom {

namespace {

constexpr std::size_t kMostBytes = 8;

template <class Number>
std::string shortest_text(Number number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace

std::optional<NumberType> number_type(hid_t type) {
  const auto type_class = H5Tget_class(type);
  if (type_class == H5T_ENUM) {
    const H5Id base(H5Tget_super(type), H5Tclose);
    return base.get() < 0 ? std::nullopt : number_type(base.get());
  }
  NumberType number;
  number.bytes = H5Tget_size(type);
  if (number.bytes > kMostBytes) return std::nullopt;
  if (type_class == H5T_BITFIELD) {
    number.in_memory = H5T_NATIVE_B64;
    return number;
  }
  if (type_class == H5T_INTEGER) {
    number.is_signed = H5Tget_sign(type) == H5T_SGN_2;
    // HDF5 would clip negative numbers at 0 when reading them as unsigned.
    number.in_memory = number.is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    return number;
  }
  if (type_class != H5T_FLOAT) return std::nullopt;
  std::size_t mantissa = 0;
  check(H5Tget_fields(type, nullptr, nullptr, nullptr, nullptr, &mantissa), "a floating-point type");
  number.is_float = true;
  number.digits = static_cast<unsigned>(mantissa) + (H5Tget_norm(type) == H5T_NORM_IMPLIED ? 1 : 0);
  number.in_memory = H5T_NATIVE_DOUBLE;
  return number;
}

StoredNumber number_of(std::uint64_t bits, const NumberType& type) {
  StoredNumber number;
  number.is_float = type.is_float;
  if (type.is_float) {
    number.real = std::bit_cast<double>(bits);
    const bool single = type.bytes <= sizeof(float);
    number.text = single ? shortest_text(static_cast<float>(number.real)) : shortest_text(number.real);
    return number;
  }
  number.whole = bits;
  number.is_negative = type.is_signed && static_cast<std::int64_t>(bits) < 0;
  number.text = type.is_signed ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
  return number;
}

}  // namespace eventloom
