#include "io/packed/field.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/recorded/payload_bits.hpp"
#include "io/recorded/precision.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kFieldForm =
    "TYPE@OFFSET, TYPE@OFFSET:LOW-HIGH, TYPE@OFFSET:BIT or one with *SCALE, such as u32le@4, u16be@0:0-11 or "
    "f64le@8*1e3; types are "
    "u8, u16, u24, u32, u40, u48, u64, i8, i16, i32, i64, f32, f64, all but u8 and i8 with le or be";

constexpr unsigned kSingleBits = 32;

struct Description {
  std::size_t bytes = 0;
  bool big_endian = false;
  bool is_float = false;
  bool is_signed = false;
  Decimal scale{1, 0};
  std::uint64_t offset = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Parses and removes a decimal number at the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Parses and removes the type: size and byte order.
bool take_type(std::string_view& text, Description& field) {
  field.is_float = take(text, "f");
  field.is_signed = !field.is_float && take(text, "i");
  if (!field.is_float && !field.is_signed && !take(text, "u")) return false;
  const auto bits = take_number(text);
  if (!bits || *bits % 8 != 0 || *bits == 0 || *bits == 56 || *bits > 64) return false;
  if (field.is_float && *bits != 32 && *bits != 64) return false;
  if (field.is_signed && *bits != 8 && *bits != 16 && *bits != 32 && *bits != 64) return false;
  field.bytes = *bits / 8;
  if (field.bytes == 1) return true;
  field.big_endian = take(text, "be");
  return field.big_endian || take(text, "le");
}

std::optional<Description> describe(std::string_view text) {
  Description field;
  if (!take_type(text, field) || !take(text, "@")) return std::nullopt;
  const auto offset = take_number(text);
  if (!offset) return std::nullopt;
  field.offset = *offset;
  field.high = field.bytes * 8 - 1;
  if (!field.is_float && !field.is_signed && take(text, ":")) {
    const auto low = take_number(text);
    if (!low) return std::nullopt;
    const auto high = take(text, "-") ? take_number(text) : low;
    if (!high) return std::nullopt;
    field.low = *low;
    field.high = *high;
  }
  if (take(text, "*")) {
    const auto scale = parse_decimal(text);
    if (!scale || scale->digits == 0) return std::nullopt;
    field.scale = shortest(*scale);
    text = {};
  }
  if (!text.empty()) return std::nullopt;
  return field;
}

template <class Word>
std::uint64_t load_word(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Loads `Bytes` bytes as the low bytes of a word. Odd sizes take two overlapping loads.
template <std::size_t Bytes>
std::uint64_t load_bytes(const std::byte* at) {
  if constexpr (Bytes == 1) return load_word<std::uint8_t>(at);
  if constexpr (Bytes == 2) return load_word<std::uint16_t>(at);
  if constexpr (Bytes == 3) return load_word<std::uint16_t>(at) | load_word<std::uint16_t>(at + 1) << 8;
  if constexpr (Bytes == 4) return load_word<std::uint32_t>(at);
  if constexpr (Bytes > 4 && Bytes < 8) {
    constexpr std::size_t kRest = Bytes - 4;
    return load_word<std::uint32_t>(at) | load_word<std::uint32_t>(at + kRest) << 8 * kRest;
  }
  if constexpr (Bytes == 8) return load_word<std::uint64_t>(at);
}

/// Likewise for little-endian numbers; big-endian ones become the high bytes, with the first byte highest.
template <std::size_t Bytes, bool BigEndian>
std::uint64_t load(const std::byte* at) {
  const auto word = load_bytes<Bytes>(at);
  return BigEndian ? __builtin_bswap64(word) : word;
}

struct Stretch {
  const std::byte* at;
  std::size_t record_bytes;
  std::size_t n_records;
  unsigned shift;
  std::uint64_t mask;
};

template <std::size_t Bytes, bool BigEndian, class Word>
void extract_as(const Stretch& in, Word* out, std::size_t stride) {
  const std::byte* at = in.at;
  for (std::size_t i = 0; i < in.n_records; ++i, at += in.record_bytes, out += stride) {
    *out = static_cast<Word>(load<Bytes, BigEndian>(at) >> in.shift & in.mask);
  }
}

/// Instantiates a loop for each load size and byte order.
template <class Word, std::size_t... Smaller>
void extract_by_size(const Stretch& in, std::size_t load_bytes, bool big_endian, Word* out, std::size_t stride,
                     std::index_sequence<Smaller...>) {
  const auto one = [&]<std::size_t Bytes>() {
    big_endian ? extract_as<Bytes, true>(in, out, stride) : extract_as<Bytes, false>(in, out, stride);
    return true;
  };
  (void)((load_bytes == Smaller + 1 && one.template operator()<Smaller + 1>()) || ...);
}

/// The two's complement of the low bits.
std::int64_t with_sign(std::uint64_t number, unsigned bits) {
  const unsigned above = 64 - bits;
  return static_cast<std::int64_t>(number << above) >> above;
}

std::uint64_t low_bits(unsigned n) { return ~std::uint64_t{0} >> (64 - n); }

}  // namespace

PackedField PackedField::parse(std::string_view text, std::size_t record_bytes, const std::string& where) {
  const auto said = where + ": '" + std::string(text) + "'";
  const auto field = describe(text);
  if (!field) throw UserError(said + " is not " + std::string(kFieldForm));
  if (field->offset > record_bytes || record_bytes - field->offset < field->bytes) {
    throw UserError(said + " does not lie inside a record of " + std::to_string(record_bytes) + " bytes");
  }
  if (field->low > field->high || field->high >= field->bytes * 8) {
    throw UserError(said + " names bits that are not LOW-HIGH within 0-" + std::to_string(field->bytes * 8 - 1));
  }
  PackedField out;
  out.is_float_ = field->is_float;
  out.is_signed_ = field->is_signed;
  if (field->scale.digits != 1 || field->scale.exponent != 0) out.scale_ = {{field->scale, false}, {}};
  out.record_bytes_ = record_bytes;
  out.load_bytes_ = std::min<std::size_t>(record_bytes, 8);
  out.load_at_ = std::min<std::size_t>(field->offset, record_bytes - out.load_bytes_);
  out.big_endian_ = field->big_endian;
  const std::size_t in_load = field->offset - out.load_at_;
  const std::size_t lowest = field->big_endian ? 8 - in_load - field->bytes : in_load;
  out.shift_ = static_cast<unsigned>(lowest * 8 + field->low);
  out.bits_ = static_cast<unsigned>(field->high - field->low + 1);
  return out;
}

PayloadKind PackedField::payload_kind() const {
  if (is_float_ && !is_scaled()) return bits_ == 32 ? PayloadKind::f32 : PayloadKind::f64;
  return is_float_ || is_signed_ ? PayloadKind::i32 : PayloadKind::u32;
}

unsigned PackedField::digits() const { return bits_ == kSingleBits ? kSingleDigits : kDoubleDigits; }

std::int64_t PackedField::to_whole(std::uint64_t number) const {
  return is_signed_ ? with_sign(number, bits_) : static_cast<std::int64_t>(number);
}

double PackedField::to_double(std::uint64_t number) const {
  if (!is_float_) return static_cast<double>(unscaled(number));
  return bits_ == kSingleBits ? std::bit_cast<float>(static_cast<std::uint32_t>(number))
                              : std::bit_cast<double>(number);
}

/// The whole number, with its sign.
WideWhole PackedField::unscaled(std::uint64_t number) const {
  return is_signed_ ? WideWhole{with_sign(number, bits_)} : WideWhole{number};
}

std::optional<WideWhole> PackedField::whole(std::uint64_t number) const {
  return is_float_ ? whole_of(rounded_to(real(number), digits())) : scale_.whole(unscaled(number));
}

double PackedField::real(std::uint64_t number) const {
  return is_float_ ? scale_.real(to_double(number)) : scale_.real(unscaled(number));
}

std::optional<std::uint64_t> PackedField::to_payload(std::uint64_t number) const {
  if (is_float_ && !is_scaled()) return number;
  const auto whole = is_float_ ? whole_of(std::round(real(number))) : scale_.nearest(unscaled(number));
  return whole ? payload_bits(*whole, payload_kind()) : std::nullopt;
}

void PackedField::extract(const std::byte* records, std::span<std::uint64_t> values) const {
  const Stretch in{records + load_at_, record_bytes_, values.size(), shift_, low_bits(bits_)};
  extract_by_size(in, load_bytes_, big_endian_, values.data(), 1, std::make_index_sequence<8>());
}

void PackedField::extract(const std::byte* records, std::span<Tick> values) const {
  const Stretch in{records + load_at_, record_bytes_, values.size(), shift_, low_bits(bits_)};
  extract_by_size(in, load_bytes_, big_endian_, values.data(), 1, std::make_index_sequence<8>());
}

void PackedField::extract_words(const std::byte* records, std::size_t n_records, unsigned from, std::uint32_t* words,
                                std::size_t stride) const {
  const Stretch in{records + load_at_, record_bytes_, n_records, shift_ + from, low_bits(bits_ - from)};
  extract_by_size(in, load_bytes_, big_endian_, words, stride, std::make_index_sequence<8>());
}

}  // namespace eventloom
