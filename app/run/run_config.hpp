#pragma once

#include <optional>
#include <string>

#include "app/run/output_settings.hpp"
#include "app/run/run_definition.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_sources.hpp"
#include "app/run/run_view.hpp"
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
  bool quiet = false;       ///< report only errors
  std::string config_file;  ///< file of --config; empty: none
};

/// Returns nothing if --help or --print-config was asked for. Throws UserError.
std::optional<RunConfig> parse_run_config(int argc, const char* const* argv);

}  // namespace eventloom
