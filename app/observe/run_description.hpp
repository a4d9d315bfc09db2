#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/document/detector_json.hpp"
#include "core/detector/value_table.hpp"
#include "core/engine/role_layout.hpp"
#include "formats/payload_kind.hpp"
#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// The properties of a run that do not change once it has begun. Names may contain any bytes. Before the run begins,
/// some properties are still unknown: empty or 0.
struct RunDescription {
  struct Rank {
    std::string host;
    std::string roles;  ///< "source 0; builder 1"
  };
  std::string name;                     ///< name of the output
  std::optional<std::uint64_t> number;  ///< number among the runs of a folder; not set: it is not one of several
  std::string comment;                  ///< comment by the person who began it
  std::string command_line;
  std::string began;  ///< UTC
  std::string definition;
  std::vector<std::string> filters;
  std::string schedule;
  bool all_live = false;  ///< all sources are live
  std::uint64_t tick_ps = 1000;
  std::uint64_t epoch_ticks = 0;
  std::uint64_t epochs_per_slice = 0;
  std::string eventloom_version;
  std::string mpi_version;
  std::string ucx_version;
  std::string configuration;                 ///< the full setup as an INI file
  std::vector<std::string> sources;          ///< indexed by source number; URIs until the run begins
  std::vector<std::string> histograms;       ///< names of those of --hist
  std::shared_ptr<const ValueTable> values;  ///< null: the hits have no values to show
  std::vector<PayloadKind> payload_kinds;    ///< kinds of the first payload column, indexed by source
  KnownChannels known;                       ///< channels of the detector
  std::shared_ptr<const Json> detector;      ///< detector_facts() of `known`; null: there is no detector
  Roles roles{.builders = 0};
  std::vector<Rank> ranks;

  /// Whether the sources have reported their ticks and epochs.
  [[nodiscard]] bool has_clock() const { return epoch_ticks != 0; }
};

}  // namespace eventloom
