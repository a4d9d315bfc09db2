#include "app/observe/page/page.hpp"

#include <string_view>
#include <vector>

#include "core/runtime/json.hpp"

namespace eventloom {

/// The page in pieces, generated at build time from the files in this folder; see embed.cmake.
std::vector<std::string_view> page_texts();

namespace {

constexpr std::string_view kStatusPlace = "@STATUS@";

std::string page_holding(const std::string& json) {
  std::string page;
  for (const auto text : page_texts()) page += text;
  return page.replace(page.find(kStatusPlace), kStatusPlace.size(), json);
}

}  // namespace

const char* const kPageBegin = "<!DOCTYPE html>\n<!-- Eventloom page -->\n";

std::string page_for_monitor() { return page_holding("null"); }

std::string page_with(const Json& status) {
  // ASCII without '<', which occurs in JSON only inside strings: neither </script> nor <!-- can appear.
  std::string json;
  for (const char c : status.dump(-1, true)) {
    if (c == '<') {
      json += "\\u003c";
    } else {
      json += c;
    }
  }
  return page_holding(json);
}

}  // namespace eventloom
