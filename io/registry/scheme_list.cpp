#include "io/registry/scheme_list.hpp"

#include <span>

#include "core/runtime/format.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace {

std::string lines_of_keys(std::span<const SourceKey> keys) {
  std::string lines;
  for (const auto& key : keys) {
    const auto form = key.needs_value()   ? fmt::format("{}={}", key.name, key.value)
                      : key.takes_value() ? fmt::format("{}[={}", key.name, key.value.substr(1))
                                          : std::string(key.name);
    lines += fmt::format("  {:<31} {}\n", form, key.help);
  }
  return lines;
}

}  // namespace

std::string scheme_list() {
  std::string text;
  for (const auto& scheme : source_schemes()) {
    text += std::string(scheme.form);
    for (const auto ending : scheme.endings) {
      if (!ending.empty()) text += fmt::format("  ({})", ending);
    }
    text += fmt::format("\n{}", lines_of_keys(scheme.keys));
    if (scheme.can_follow()) text += lines_of_keys({&kFollow, 1});
    if (scheme.follow_stream != nullptr) text += lines_of_keys({&kAcknowledge, 1});
  }
  std::string without;
  for (const auto& scheme : source_schemes()) {
    if (!scheme.shifts) without += fmt::format(" but {}:", scheme.name);
  }
  return fmt::format("{}every source{}\n{}", text, without, lines_of_keys(kCommonKeys));
}

}  // namespace eventloom
