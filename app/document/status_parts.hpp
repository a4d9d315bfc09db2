#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/monitor/channel_counts.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/ids.hpp"
#include "io/run_format/detector_record.hpp"

/// Parts that the status documents of the monitor and of reports have in common.
namespace eventloom {

using StatusJson = nlohmann::ordered_json;

/// An entry of "counters".
StatusJson counter_json(const MetricInfo& metric, std::uint64_t value);

/// Part "ledger". Of the causes of dropped hits it has all, or only those with hits.
enum class CausesShown : std::uint8_t { all, with_hits };
StatusJson ledger_json(const Counters& totals, CausesShown causes, bool balances);

/// Part "channels".
StatusJson channels_json(const KnownChannels& known, const std::vector<ChannelCounts::OfSource>& sources);

/// An entry of "events".
struct ShownEvent {
  struct Hit {
    Tick since_first = 0;
    std::uint32_t source = 0;
    std::uint32_t channel = 0;
    std::optional<std::uint32_t> payload;  ///< its first word, if it has any
  };
  Tick time = 0;
  Tick duration = 0;
  std::uint64_t n_hits = 0;  ///< `hits` may be fewer
  std::uint64_t slice = 0;
  std::uint32_t flags = 0;  ///< EventFlag
  bool with_payload = false;
  std::vector<Hit> hits;
};
StatusJson to_json(const ShownEvent& event, double tick_ns, const KnownChannels& known);

}  // namespace eventloom
