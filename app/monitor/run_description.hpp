#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/report/detector_json.hpp"
#include "core/engine/role_layout.hpp"
#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// What stays as it is while a run goes on. Names may be any bytes. Until the run begins some of it is empty or 0: not
/// known yet.
struct RunDescription {
  struct Rank {
    std::string host;
    std::string roles;  ///< "source 0; builder 1"
  };
  std::string name;  ///< of the output
  std::string command_line;
  std::string began;  ///< UTC
  std::string definition;
  std::vector<std::string> filters;
  std::string schedule;
  bool all_live = false;  ///< no source is recorded
  std::uint64_t tick_ps = 1000;
  std::uint64_t epoch_ticks = 0;
  std::uint64_t epochs_per_slice = 0;
  std::string eventloom_version;
  std::string mpi_version;
  std::string ucx_version;
  std::string configuration;                     ///< the full setup as an INI file
  std::vector<std::string> sources;              ///< by number; until the run begins their URIs
  KnownChannels known;                           ///< of the detector
  std::shared_ptr<const DetectorJson> detector;  ///< detector_facts() of these; null: there is none
  Roles roles{.builders = 0};
  std::vector<Rank> ranks;

  /// Sources have stated their ticks and epochs.
  [[nodiscard]] bool has_clock() const { return epoch_ticks != 0; }
};

}  // namespace eventloom
