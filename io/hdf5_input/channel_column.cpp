#include "io/hdf5_input/channel_column.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

ChannelColumn::ChannelColumn(const SourceUri& uri, ColumnReader column)
    : column_(std::move(column)), scale_(column_), ids_(ChannelIds::of(uri)) {
  column_.require_written();
  missing_values_ = MissingValues(column_);
}

void ChannelColumn::read(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost) {
  if (column_.is_float()) {
    read_reals(from, n, out, lost);
  } else {
    read_integers(from, n, out, lost);
  }
}

void ChannelColumn::read_integers(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost) {
  column_.read(from, n, integers_);
  if (missing_values_.any()) {
    missing_.assign(n, false);
    missing_values_.mark(from, integers_, missing_);
    lost.mark(missing_, column_.name());
  }
  const auto is_channel = [](std::uint64_t number) { return number <= kMaxChannel; };
  if (!scale_.any() && !ids_ && std::ranges::all_of(integers_, is_channel)) {  // the common case
    const auto first = out.size();
    out.resize(first + n);
    for (std::size_t i = 0; i < n; ++i) out[first + i] = static_cast<std::uint32_t>(integers_[i]);
    return;
  }
  const bool is_signed = column_.is_signed();
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = integers_[i];
    const auto channel = channel_of(number);
    out.push_back(channel.value_or(0));
    if (channel || (lost.any() && lost[i])) continue;
    refuse(from, i, is_signed ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number), lost);
  }
}

std::optional<std::uint32_t> ChannelColumn::channel_of(std::uint64_t number) const {
  bool negative = column_.is_signed() && static_cast<std::int64_t>(number) < 0;
  if (scale_.any()) {
    const auto whole = scale_.whole(number, column_.is_signed());
    negative = !whole || *whole < 0;
    number = static_cast<std::uint64_t>(whole.value_or(0));
  }
  if (negative) return std::nullopt;
  if (ids_) return ids_->channel(number);
  return number <= kMaxChannel ? std::optional(static_cast<std::uint32_t>(number)) : std::nullopt;
}

std::optional<std::uint32_t> ChannelColumn::channel_of(double number) const {
  constexpr double kEnd = 0x1p64;
  const double value = scale_.any() ? scale_.real(number) : number;
  if (!(value >= 0 && value < kEnd) || value != std::floor(value)) return std::nullopt;
  const auto whole = static_cast<std::uint64_t>(value);
  if (ids_) return ids_->channel(whole);
  return whole <= kMaxChannel ? std::optional(static_cast<std::uint32_t>(whole)) : std::nullopt;
}

void ChannelColumn::read_reals(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost) {
  column_.read(from, n, reals_);
  missing_.assign(n, false);
  missing_values_.mark(from, reals_, missing_);
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(reals_[i])) missing_[i] = true;
  }
  lost.mark(missing_, column_.name());
  for (std::size_t i = 0; i < n; ++i) {
    const auto channel = channel_of(reals_[i]);
    out.push_back(channel.value_or(0));
    if (!channel && !lost[i]) refuse(from, i, fmt::format("{}", reals_[i]), lost);
  }
}

void ChannelColumn::refuse(std::uint64_t from, std::size_t i, const std::string& number, LostRows& lost) const {
  const char* packed = scale_.any() ? ", with its scale_factor and add_offset," : "";
  const char* advice = ids_ ? "and channels= does not name it" : "such as channels=FILE makes of longer ids";
  lost.mark_bad(i, fmt::format("'{}' row {}: {}{} is not a channel, a whole number from 0 to {}, {}", column_.name(),
                               from + i, number, packed, kMaxChannel, advice));
}

}  // namespace eventloom
