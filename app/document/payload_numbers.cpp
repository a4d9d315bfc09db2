#include "app/document/payload_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// The kinds in "energy f64, flags u32"; none if the text is damaged.
std::vector<PayloadKind> kinds_in(std::string_view text) {
  std::vector<PayloadKind> kinds;
  while (!text.empty()) {
    const auto column = text.substr(0, text.find(", "));
    const auto kind = std::ranges::find(kPayloadKindNames, column.substr(column.rfind(' ') + 1));
    if (kind == kPayloadKindNames.end()) return {};
    kinds.push_back(static_cast<PayloadKind>(kind - kPayloadKindNames.begin()));
    text.remove_prefix(std::min(text.size(), column.size() + 2));
  }
  return kinds;
}

std::string number_text(PayloadKind kind, std::span<const std::uint32_t> words) {
  if (kind == PayloadKind::u32) return fmt::format("{:#010x}", words[0]);
  if (kind == PayloadKind::f32) return fmt::format("{}", std::bit_cast<float>(words[0]));
  return fmt::format("{}", payload_number(kind, words));
}

}  // namespace

PayloadNumbers::PayloadNumbers(const RunRecord& record) {
  for (const auto& source : record.sources) kinds_.push_back(kinds_in(source.payload));
}

bool PayloadNumbers::any_real() const {
  return std::ranges::any_of(kinds_,
                             [](const auto& kinds) { return !kinds.empty() && kinds.front() != PayloadKind::u32; });
}

std::optional<double> PayloadNumbers::first_real(std::uint16_t source, std::span<const std::uint32_t> payload) const {
  if (source >= kinds_.size() || kinds_[source].empty() || kinds_[source].front() == PayloadKind::u32) return {};
  const double number = payload_number(kinds_[source].front(), payload);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

std::string PayloadNumbers::text(std::uint16_t source, std::span<const std::uint32_t> payload) const {
  std::string text;
  for (std::size_t column = 0; !payload.empty(); ++column) {
    const bool known = source < kinds_.size() && column < kinds_[source].size();
    auto kind = known ? kinds_[source][column] : PayloadKind::u32;
    if (payload.size() < words_of(kind)) kind = PayloadKind::u32;
    text += (text.empty() ? "" : " ") + number_text(kind, payload);
    payload = payload.subspan(words_of(kind));
  }
  return text;
}

}  // namespace eventloom
