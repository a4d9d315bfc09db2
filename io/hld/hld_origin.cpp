#include "io/hld/hld_origin.hpp"

#include <algorithm>
#include <charconv>

#include "core/runtime/format.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kRunLine = "Number of the run: ";
constexpr std::string_view kOrderLine = "Byte order of the subevents in the file: ";
constexpr std::string_view kBig = "big-endian";
constexpr std::string_view kExcept = ", but not of the ids ";

/// Text after `key` in the line that begins with it.
std::optional<std::string_view> origin_line(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == text.npos || (at != 0 && text[at - 1] != '\n')) return std::nullopt;
  const auto rest = text.substr(at + key.size());
  return rest.substr(0, rest.find('\n'));
}

/// Removes the number at the start of `text` and returns it; 0 if there is none.
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

std::uint32_t find_hld_run(const std::string& path) {
  const auto header = read_hld_event_header(FileReader(path).front(kHldEventHeaderBytes));
  return header ? header->run : 0;
}

std::string hld_origin_text(std::uint32_t run) { return fmt::format("{}{}\n", kRunLine, run); }

std::optional<HldOrigin> parse_hld_origin(std::string_view text) {
  auto run = origin_line(text, kRunLine);
  if (!run) return std::nullopt;
  HldOrigin origin{.run = take_origin_number(*run, 10)};
  auto order = origin_line(text, kOrderLine);
  if (!order) return origin;
  origin.big_endian = order->starts_with(kBig);
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
