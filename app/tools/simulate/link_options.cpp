#include "app/tools/simulate/link_options.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "app/command/options.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

constexpr double kHalf = 0.5;

std::vector<std::string> texts(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? std::vector<std::string>() : values[option].as<std::vector<std::string>>();
}

/// Parses "LINK" or "LINK:FACTOR"; LINK itself may contain colons, as in "up:LEAF:SPINE".
OfLink slow_link(const std::string& text) {
  const auto colons = std::ranges::count(text, ':');
  const bool by_leaf = text.starts_with("up:") || text.starts_with("down:") || text.starts_with("cable:");
  const auto last = text.rfind(':');
  if (by_leaf ? colons < 3 : colons == 0) return {text, kHalf};
  const auto decimal = parse_decimal(text.substr(last + 1));
  if (!decimal || decimal->digits == 0) {
    throw UserError("--slow-link " + text + ": '" + text.substr(last + 1) + "' is not a factor above 0");
  }
  return {text.substr(0, last), to_double(*decimal)};
}

}  // namespace

void add_link_options(po::options_description& options) {
  add_option_rows(options, {{"slow-link", list_value("LINK[:FACTOR]"),
                             "link that has FACTOR times its rate (0.5): a node, counted from 0, for its own links; a "
                             "name as in the report, or up:LEAF:SPINE, down:LEAF:SPINE, cable:LEAF:SPINE; repeatable"},
                            {"dead-link", list_value("LINK"),
                             "link that carries no data, named likewise: routes lead around it; repeatable"}});
}

void read_link_options(const po::variables_map& values, SimulationSettings& settings) {
  for (const auto& text : texts(values, "slow-link")) settings.slow_links.push_back(slow_link(text));
  settings.dead_links = texts(values, "dead-link");
}

}  // namespace eventloom
