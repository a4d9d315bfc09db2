#include "io/packed/time_field.hpp"

#include <charconv>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr unsigned kTimeBits = 64;

/// The number in the text; 0, which shifts nothing, if the text is not a number.
unsigned shift_in(std::string_view text) {
  unsigned shift = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shift);
  return error == std::errc() && end == text.data() + text.size() && shift < kTimeBits ? shift : 0;
}

}  // namespace

TimeField TimeField::parse(const std::string& text, std::size_t record_bytes, const std::string& where) {
  TimeField time;
  const auto arrows = text.find("<<");
  if (arrows == std::string::npos) {
    time.field_ = PackedField::parse(text, record_bytes, where);
    return time;
  }
  const auto said = where + ": '" + text + "' ";
  const auto bar = text.find('|', arrows);
  if (bar == std::string::npos) throw UserError(said + "is not HIGH<<BITS|LOW, such as u32le@4<<24|u24le@0");
  time.shift_ = shift_in(std::string_view(text).substr(arrows + 2, bar - arrows - 2));
  if (time.shift_ == 0) throw UserError(said + "does not shift by 1 to 63 bits");
  time.high_ = PackedField::parse(text.substr(0, arrows), record_bytes, where);
  time.field_ = PackedField::parse(text.substr(bar + 1), record_bytes, where);
  if (!time.high_->is_plain() || !time.field_.is_plain()) {
    throw UserError(said + "joins numbers that are not plain: use u8 to u64 without a scale, and unit= for the length");
  }
  if (time.field_.bits() > time.shift_) {
    throw UserError(said + "has a low number of " + std::to_string(time.field_.bits()) + " bits where only " +
                    std::to_string(time.shift_) + " are free: shift by more, or take fewer of its bits, as in " +
                    "u32le@0:0-" + std::to_string(time.shift_ - 1));
  }
  if (time.high_->bits() > kTimeBits - time.shift_) {
    throw UserError(said + "has more than 64 bits: take fewer of the high number, as in u64le@0:0-" +
                    std::to_string(kTimeBits - time.shift_ - 1));
  }
  return time;
}

void TimeField::extract(const std::byte* records, std::span<Tick> times) {
  field_.extract(records, times);
  if (!high_) return;
  highs_.resize(times.size());
  high_->extract(records, highs_);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = Tick(times[i].value | highs_[i] << shift_);
}

}  // namespace eventloom
