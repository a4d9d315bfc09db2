#include "io/hld/hld_origin.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "io/files/file_reader.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 20;

constexpr std::string_view kRunLine = "Number of the run: ";
constexpr std::string_view kOrderLine = "Byte order of the subevents in the file: ";
constexpr std::string_view kBig = "big-endian";
constexpr std::string_view kLittle = "little-endian";
constexpr std::string_view kExcept = ", but not of the ids ";

/// Subevents by id: those that are big-endian less those that are not.
using Orders = std::map<std::uint32_t, std::int64_t>;

void count_orders(std::span<const std::byte> event, Orders& orders) {
  for (std::size_t at = kHldEventHeaderBytes; at < event.size();) {
    const auto header = read_hld_subevent_header(event.subspan(at));
    if (!header || header->size < kHldSubeventHeaderBytes) return;
    orders[header->id] += header->big_endian ? 1 : -1;
    at += hld_padded(header->size);
  }
}

/// The rest of the line that begins with `key`.
std::optional<std::string_view> origin_line(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == text.npos || (at != 0 && text[at - 1] != '\n')) return std::nullopt;
  const auto rest = text.substr(at + key.size());
  return rest.substr(0, rest.find('\n'));
}

/// Moves `text` past the number at its start; 0 where there is none.
std::uint32_t take_origin_number(std::string_view& text, int base) {
  std::uint32_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, base).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

bool HldOrigin::is_big_endian(std::uint32_t subevent_id) const {
  return big_endian != std::ranges::binary_search(others, subevent_id);
}

HldOrigin find_hld_origin(const std::string& path) {
  FileReader file(path);
  auto bytes = file.front(kLookedAt);
  HldOrigin origin;
  Orders orders;
  for (bool first = true;; first = false) {
    const auto header = read_hld_event_header(bytes);
    if (!header || header->size < kHldEventHeaderBytes || header->size > bytes.size()) break;
    if (first) origin.run = header->run;
    count_orders(bytes.first(header->size), orders);
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), hld_padded(header->size)));
  }
  std::int64_t sum = 0;
  for (const auto& [id, balance] : orders) sum += balance;
  origin.big_endian = sum >= 0;
  for (const auto& [id, balance] : orders) {
    if ((balance >= 0) != origin.big_endian) origin.others.push_back(id);
  }
  return origin;
}

std::string to_text(const HldOrigin& origin) {
  auto text = fmt::format("{}{}\n{}{}", kRunLine, origin.run, kOrderLine, origin.big_endian ? kBig : kLittle);
  if (!origin.others.empty()) text += fmt::format("{}{:x}", kExcept, fmt::join(origin.others, " "));
  return text + '\n';
}

std::optional<HldOrigin> parse_hld_origin(std::string_view text) {
  auto run = origin_line(text, kRunLine);
  auto order = origin_line(text, kOrderLine);
  if (!run || !order) return std::nullopt;
  HldOrigin origin{.run = take_origin_number(*run, 10), .big_endian = order->starts_with(kBig), .others = {}};
  const auto others = order->find(kExcept);
  if (others == order->npos) return origin;
  order->remove_prefix(others + kExcept.size());
  while (!order->empty()) {
    origin.others.push_back(take_origin_number(*order, 16));
    order->remove_prefix(std::min<std::size_t>(order->size(), 1));
  }
  return origin;
}

}  // namespace eventloom
