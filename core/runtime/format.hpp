#pragma once

#include <string>
#include <string_view>

// fmt::format, without the templates that do the formatting, which are compiled once, in libfmt. <fmt/format.h> and its
// neighbours compile slowly.
#if defined(SPDLOG_FMT_EXTERNAL)
#include <fmt/core.h>
#else
#include <spdlog/fmt/bundled/core.h>
#endif

namespace eventloom {

/// The items of a range as text, separated by `between`.
template <class Items>
std::string joined(const Items& items, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += between;
    first = false;
    text += fmt::format("{}", item);
  }
  return text;
}

}  // namespace eventloom
