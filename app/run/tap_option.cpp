#include "app/run/tap_option.hpp"

#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

TapOption parse_tap_option(const std::string& text) {
  constexpr std::string_view kScheme = "mbs://";
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  const auto slash = rest.find('/');
  const auto service = slash == rest.npos ? "stream" : rest.substr(slash + 1);
  const auto place = parse_listen_place(rest.substr(0, slash));
  if (!place || (service != "stream" && service != "transport")) {
    throw UserError("--tap: '" + text +
                    "' is not [mbs://][ADDR:]PORT[/stream|/transport], such as 6002 or 0.0.0.0:6000/transport");
  }
  return {*place, service == "stream"};
}

}  // namespace eventloom
