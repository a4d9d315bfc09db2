#include "io/csv/inspect_csv.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/runtime/json.hpp"
#include "io/csv/csv_columns.hpp"
#include "io/csv/csv_reader.hpp"
#include "io/recorded/clocks_by_channel.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/recorded/time_pair.hpp"
#include "io/recorded/unread_columns.hpp"

namespace eventloom {

namespace {

/// Shortens a long list to its first names and the number of the others.
std::vector<std::string> first_names(std::vector<std::string> names) {
  constexpr std::size_t kShown = 50;
  if (names.size() <= kShown) return names;
  const auto more = names.size() - kShown;
  names.resize(kShown);
  names.push_back("and " + std::to_string(more) + " more");
  return names;
}

}  // namespace

Json inspect_csv(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto columns = find_columns(with_time_pair(uri));
  const bool counts_ps = uri.get("unit", columns.unit) == "ps" || !units_by_channel(uri).empty();
  const TimeBase base{.tick_ps = tick_ps.value_or(counts_ps ? 1 : 1000)};
  const auto reader = open_csv(uri, {0}, base);
  Json header = {{"tick_ps", base.tick_ps},
                 {"time_column", columns.time},
                 {"channel_column", columns.channel},
                 {"payload_columns", columns.payload}};
  if (columns.coarse != 0) header["coarse_column"] = columns.coarse;
  if (columns.fixed_channel) header["fixed_channel"] = *columns.fixed_channel;
  const auto types = payload_type_names(reader->header());
  if (!types.empty()) header["payload_types"] = types;
  if (!columns.unread.empty()) header["columns_not_read"] = first_names(columns.unread);
  header["contents"] = reader->header().text;
  return inspect_hits(*reader, "csv", std::move(header), n_events);
}

}  // namespace eventloom
