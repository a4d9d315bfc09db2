#pragma once

#include <array>
#include <cstdint>

#include "core/dataflow/source.hpp"
#include "io/hld/hld_file.hpp"

namespace eventloom {

/// Counts of the contents of HLD files, used or not.
struct HldCounts {
  std::uint64_t events = 0;  ///< without those that mark the beginning or end of a run
  std::uint64_t run_events = 0;
  std::uint64_t empty_events = 0;
  std::uint64_t events_with_error_bit = 0;
  std::uint64_t subevents = 0;
  std::uint64_t subevents_with_error_bit = 0;
  std::uint64_t padded_subevents = 0;
  std::array<std::uint64_t, 16> triggers{};  ///< events by trigger type

  void add(const HldEvent& event) {
    if (event.begins_run() || event.ends_run()) {
      ++run_events;
      return;
    }
    ++events;
    ++triggers[event.trigger()];
    empty_events += event.subevents.empty() ? 1 : 0;
    events_with_error_bit += event.has_error() ? 1 : 0;
    subevents += event.subevents.size();
    for (const auto& subevent : event.subevents) {
      subevents_with_error_bit += subevent.has_error() ? 1 : 0;
      padded_subevents += subevent.size % 8 != 0 ? 1 : 0;
    }
  }

  /// By the names above; trigger_<n> for each trigger type that occurs.
  void add_to(SourceCounts& counts) const;
};

}  // namespace eventloom
