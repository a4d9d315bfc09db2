#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/monitor/channel_counts.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/ids.hpp"
#include "io/run_format/detector_record.hpp"

/// Parts that the status documents of the monitor and of reports have in common.
namespace eventloom {

/// Makes an entry of "counters".
Json counter_json(const MetricInfo& metric, std::uint64_t value);

/// Makes the part "ledger", with all causes of dropped hits or only those with hits.
enum class CausesShown : std::uint8_t { all, with_hits };
Json ledger_json(const Counters& totals, CausesShown causes, bool balances);

/// Makes the part "channels".
Json channels_json(const KnownChannels& known, const std::vector<ChannelCounts::OfSource>& sources);

/// An entry of "events".
struct ShownEvent {
  struct Hit {
    Tick since_first = 0;
    std::uint32_t source = 0;
    std::uint32_t channel = 0;
    std::optional<std::uint32_t> payload;  ///< first payload word, if any
    std::optional<double> value = {};      ///< calibrated, if known
  };
  Tick time = 0;
  Tick duration = 0;
  std::uint64_t n_hits = 0;  ///< may exceed the size of `hits`
  std::uint64_t slice = 0;
  std::uint32_t flags = 0;  ///< EventFlag
  bool with_payload = false;
  bool with_values = false;
  std::vector<Hit> hits;
};
/// Whether payload words are shown; not if the payload of all hits is shown as values.
bool has_words(const ShownEvent& event);
Json to_json(const ShownEvent& event, double tick_ns, const KnownChannels& known);

}  // namespace eventloom
