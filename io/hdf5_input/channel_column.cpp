#include "io/hdf5_input/channel_column.hpp"

#include <cmath>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

ChannelColumn::ChannelColumn(ColumnReader column) : column_(std::move(column)), scale_(column_) {
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
  const bool is_signed = column_.is_signed();
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = integers_[i];
    const auto value = scale_.any() ? scale_.whole(number, is_signed).value_or(-1) : static_cast<std::int64_t>(number);
    const bool is_channel = static_cast<std::uint64_t>(value) <= kMaxChannel;
    out.push_back(is_channel ? static_cast<std::uint32_t>(value) : 0);
    if (is_channel || (lost.any() && lost[i])) continue;
    refuse(from, i, is_signed ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number), lost);
  }
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
    const double value = scale_.any() ? scale_.real(reals_[i]) : reals_[i];
    const bool is_channel = value >= 0 && value <= kMaxChannel && value == std::floor(value);
    out.push_back(is_channel ? static_cast<std::uint32_t>(value) : 0);
    if (!is_channel && !lost[i]) refuse(from, i, fmt::format("{}", reals_[i]), lost);
  }
}

void ChannelColumn::refuse(std::uint64_t from, std::size_t i, const std::string& number, LostRows& lost) const {
  const char* packed = scale_.any() ? ", with its scale_factor and add_offset," : "";
  lost.mark_bad(i,
                fmt::format("'{}' row {}: {}{} is not a channel, a whole number from 0 to {}; is it the right column?",
                            column_.name(), from + i, number, packed, kMaxChannel));
}

}  // namespace eventloom
