#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/event_files/event_format.hpp"
#include "io/event_files/file_triggers.hpp"
#include "io/event_files/lmd_event_maker.hpp"

namespace eventloom {

/// The target of built events as list-mode data: lmd:PATH or hld:PATH, with the keys size=BYTES, begin=TRIGGERS and
/// end=TRIGGERS, and run=N and ebnumber=N for HLD.
struct EventTarget {
  bool hld = false;  ///< else LMD
  std::filesystem::path folder;
  std::string stem;              ///< common beginning of the file names
  std::uint64_t most_bytes = 0;  ///< largest file; 0: no limit
  FileTriggers triggers = {};
  std::optional<std::uint32_t> run;
  unsigned builder = 0;

  /// Extension of the file names.
  [[nodiscard]] const char* extension() const { return hld ? ".hld" : ".lmd"; }
};

/// Throws UserError that names `option` and states what was expected.
EventTarget parse_event_target(const std::string& text, const std::string& option);

/// The target of one of several writers. Its file names contain the writer's number, for HLD as event builder number.
EventTarget target_of_writer(EventTarget target, std::uint32_t writer, std::uint32_t writers);

/// The properties of the run that list-mode files depend on.
struct EventFileRun {
  std::vector<std::string> descriptions;  ///< descriptions of the sources
  std::uint64_t tick_ps = 0;
  bool numbered = false;                  ///< times are event numbers
  std::optional<std::int64_t> tick_0_ns;  ///< Unix time of tick 0
  std::int64_t began_s = 0;               ///< Unix time
};

/// Returns a maker of the events that an LMD target contains.
LmdEventMaker make_lmd_events(const EventFileRun& run);

/// The run number of HLD files is that of the target, else that of the HLD sources if they agree, else the time when
/// the run began.
std::unique_ptr<EventFormat> make_event_format(const EventTarget& target, const EventFileRun& run);

}  // namespace eventloom
