#pragma once

#include <optional>
#include <string>

#include "app/run/output_settings.hpp"
#include "app/run/run_definition.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_sources.hpp"
#include "app/run/run_view.hpp"
#include "app/run/series_settings.hpp"
#include "core/engine/rank_watch.hpp"

namespace eventloom {

/// The options of `eventloom run`, as the settings of its stages.
struct RunConfig {
  SourceSettings sources;
  BuildingSettings building;
  ExchangeSettings exchange;
  OutputSettings output;
  ViewSettings view;
  StallSettings stalls;
  std::optional<SeriesSettings> series;  ///< not set: the program has one run
  bool quiet = false;                    ///< report only errors
  bool verbose = false;                  ///< report details, too
  bool realtime = false;                 ///< see apply_realtime()
  std::string config_file;               ///< file of --config; empty: none
  bool repeats = false;                  ///< it is the output of a run, which this one repeats
};

/// Returns nothing if --help or --print-config was asked for. Throws UserError.
std::optional<RunConfig> parse_run_config(int argc, const char* const* argv);

}  // namespace eventloom
