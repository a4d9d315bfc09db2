#include "io/compass/compass_segments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/compass/compass_record.hpp"
#include "io/compass/compass_text.hpp"
#include "io/files/file_head.hpp"

namespace eventloom {

namespace {

std::string_view first_line(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.substr(0, text.find('\n'));
}

std::optional<CompassFormat> format_of(std::span<const std::byte> head, std::uint16_t& bytes) {
  if (head.size() < sizeof bytes) return std::nullopt;
  std::memcpy(&bytes, head.data(), sizeof bytes);
  return CompassFormat::of_header(bytes);
}

/// The header of a file as a value of the key `header`; empty if it has none.
std::string own_header(std::span<const std::byte> head) {
  std::uint16_t bytes = 0;
  if (format_of(head, bytes)) return fmt::format("0x{:04X}", bytes);
  const auto columns = CompassColumns::of_header(first_line(head));
  return columns ? columns->header : "";
}

/// Whether a file without a header may continue the file whose first bytes are `first`.
bool may_follow(std::span<const std::byte> first, std::span<const std::byte> head) {
  std::uint16_t bytes = 0;
  if (const auto format = format_of(first, bytes)) return are_compass_records(*format, head);
  const auto columns = CompassColumns::of_header(first_line(first));
  if (!columns || head.empty()) return columns.has_value();
  return static_cast<std::size_t>(std::ranges::count(first_line(head), columns->separator)) + 1 >= columns->count;
}

}  // namespace

std::vector<SourceUri> compass_segments(const SourceUri& uri, std::span<const std::string> paths) {
  std::vector<SourceUri> segments;
  for (const auto& path : paths) segments.push_back(uri.with_path(path));
  if (uri.has("header") || paths.size() < 2) return segments;
  std::map<std::string, std::vector<std::byte>> begins;  // a file with each header: its first bytes
  for (const auto& path : paths) {
    auto head = file_head(path);
    const auto header = own_header(head);
    if (!header.empty()) begins.try_emplace(header, std::move(head));
  }
  for (auto& segment : segments) {
    const auto head = file_head(segment.path());
    const auto follows = [&](const auto& begin) { return may_follow(begin.second, head); };
    if (!own_header(head).empty() || std::ranges::none_of(begins, follows)) continue;  // the reader judges it
    if (begins.size() > 1) {
      uri.refuse(fmt::format(
          "'{}' has no header, and those of the others differ, {} and {}: name it alone, with header=", segment.path(),
          begins.begin()->first, begins.rbegin()->first));
    }
    segment = segment.with("header", begins.begin()->first);
  }
  return segments;
}

}  // namespace eventloom
