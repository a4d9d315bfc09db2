#include "io/hdf5_input/channel_column.hpp"

#include <algorithm>

#include "core/runtime/format.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

void ChannelColumn::read(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost) {
  values_.read(from, n);
  values_.mark(lost);
  const auto first = out.size();
  out.resize(first + n);
  const auto numbers = values_.integers();
  const bool is_plain = !column().is_float() && !values_.scale().any() && !ids_.has_table();
  if (is_plain && std::ranges::all_of(numbers, [](std::uint64_t number) { return number <= kMaxChannel; })) {
    for (std::size_t i = 0; i < n; ++i) out[first + i] = static_cast<std::uint32_t>(numbers[i]);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (lost[i]) continue;
    const auto found = ids_.channel(values_.whole(i));
    out[first + i] = found.value_or(0);
    if (found) continue;
    const char* packed = values_.scale().any() ? ", with its scale_factor and add_offset," : "";
    lost.mark_bad(i, fmt::format("{}{}{} is not {}", values_.place(i), values_.text(i), packed, ids_.expected()));
  }
}

}  // namespace eventloom
