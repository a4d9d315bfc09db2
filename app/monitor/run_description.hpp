#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/detector_record.hpp"

namespace eventloom {

/// What stays as it is while a run goes on. Names may be any bytes.
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
  std::string configuration;         ///< the full setup as an INI file
  std::vector<std::string> sources;  ///< by number
  KnownChannels known;               ///< of the detector
  std::uint32_t n_builders = 0;
  std::uint32_t n_filters = 0;
  std::vector<Rank> ranks;
};

}  // namespace eventloom
