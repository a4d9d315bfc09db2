#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/role_layout.hpp"
#include "event_reference.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/ring_layout.hpp"
#include "simulated_ranks.hpp"
#include "test_sources.hpp"

namespace eventloom::test {

/// A whole run, all that it depends on.
struct RunCase {
  SimulationSettings simulation;
  Roles roles;
  RingGeometry ring{4, 256};
  std::string schedule = "round-robin";
  std::uint64_t slot_ns = 0;
  std::uint32_t slices_in_flight = 2;
  TimeBase base{1000, 100};
  std::uint64_t epochs_per_slice = 3;
  std::string definition = "gap:5,2";
  Tick overlap = 60;
  std::uint32_t least_hits = 0;  ///< a filter asks for so many hits; 0: there is no filter
  double speed = 0;
  std::chrono::nanoseconds duration{};
  std::chrono::nanoseconds epoch_timeout{};
  SliceId first_slice;
  std::vector<SliceId> finished;                    ///< rising, from first_slice on
  std::vector<std::vector<RefHit>> hits;            ///< by source, in the order of its stream
  std::vector<std::vector<Arrival>> arrivals = {};  ///< by source; empty: it is a recording
  int signal = 0;                                   ///< that one of the ranks gets
  std::int64_t signal_after_ns = 0;
  std::uint64_t sink_fails_after = 0;    ///< slices of one writer; 0: never
  bool sink_stops = false;               ///< it then asks to stop in good order; otherwise it throws
  bool damaged = false;                  ///< some buffers of recordings have a wrong bit
  std::uint64_t source_fails_after = 0;  ///< collects of source 0; 0: never

  [[nodiscard]] SliceGeometry geometry() const;
  [[nodiscard]] bool live() const { return !arrivals.empty(); }
};

struct WrittenSlice {
  std::uint32_t writer = 0;
  BuiltSlice slice;
};

/// What has come of it.
struct Outcome {
  std::map<std::uint64_t, WrittenSlice> slices;
  std::vector<std::string> errors;  ///< by rank; empty: none
  std::string stopped_by;
  bool cut_off = false;
  std::uint64_t hits_read = 0;
  std::int64_t took_ns = 0;                       ///< simulated
  std::vector<std::string> faults;                ///< what may never happen
  std::map<std::uint64_t, int> built_on;          ///< rank by slice
  std::map<std::uint64_t, std::int64_t> sent_at;  ///< ns after the begin, by slice: when any source first collected it
};

/// Plays the case. Throws what is no error that the ranks share.
Outcome play(const RunCase& of);

/// What the slices of a run should hold, found serially over the whole stream, by slice; only slices with hits.
std::map<std::uint64_t, BuiltSlice> expected_slices(const RunCase& of);

/// Says where `outcome` differs from the serial reference, "" nowhere: all slices from the first on that are not
/// finished, or, where the run was stopped, those before a slice at which it ended.
std::string difference(const RunCase& of, const Outcome& outcome, bool stopped = false);

/// "gap:5,2, 3 sources, ...": the case in a line, for messages.
std::string text_of(const RunCase& of);

}  // namespace eventloom::test
