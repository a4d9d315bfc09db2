#include "core/runtime/trouble_text.hpp"

#include <cstdint>
#include <map>
#include <string_view>

namespace eventloom {

std::string trouble_text(const Counters& source) {
  std::map<std::string_view, std::uint64_t> troubles;
  for (const auto& metric : metrics_of(Account::source)) {
    if (metric.trouble && source[metric.metric] != 0) troubles[metric.name] = source[metric.metric];
  }
  std::string text;
  for (const auto& [name, n] : troubles) {
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(std::to_string(n));
  }
  return text;
}

}  // namespace eventloom
