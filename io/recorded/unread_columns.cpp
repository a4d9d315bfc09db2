#include "io/recorded/unread_columns.hpp"

namespace eventloom {

std::string unread_columns(std::span<const std::string> names) {
  constexpr std::size_t kShown = 200;
  std::string list;
  std::size_t n = 0;
  for (const auto& name : names) {
    if (list.size() + name.size() > kShown) break;
    list += (n++ == 0 ? "" : ", ") + name;
  }
  if (n < names.size()) list += (n == 0 ? "" : " and ") + std::to_string(names.size() - n) + " more";
  return "columns not read: " + list + "; payload=COLUMN,... keeps those that are payload";
}

}  // namespace eventloom
