#include "io/packed/inspect_packed.hpp"

#include "core/runtime/json.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/recorded/clocks_by_channel.hpp"
#include "io/recorded/inspect_hits.hpp"

namespace eventloom {

Json inspect_packed(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  constexpr TimeBase kDefault;
  const auto by_channel = units_by_channel(uri);
  const auto unit = by_channel.empty() ? uri.get_unit("unit", kDefault.tick_ps) : TimeUnit{};
  const auto own = to_ticks({1, 0}, unit.ps, unit.divisor, Rounding::none);
  const TimeBase base{tick_ps.value_or(own ? own->value : kDefault.tick_ps), kDefault.epoch_ticks};
  const auto reader = open_packed(uri, {0}, base);
  Json header = {{"uri", uri.text()}, {"record_bytes", uri.get_count("record", 0, 1, ~std::uint64_t{0})}};
  if ((reader->header().flags & kNumbered) != 0) {
    header["times"] = "event numbers";
  } else {
    header["tick_ps"] = base.tick_ps;
  }
  header["payload_words"] = reader->header().payload.words.front();
  header["payload_types"] = payload_type_names(reader->header());
  return inspect_hits(*reader, "packed", header, n_events);
}

}  // namespace eventloom
