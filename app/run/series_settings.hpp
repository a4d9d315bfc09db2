#pragma once

#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "app/run/output_settings.hpp"
#include "app/run/run_hook.hpp"
#include "app/run/run_sources.hpp"

namespace eventloom {

/// `run --runs`: several runs in one program.
struct SeriesSettings {
  std::string folder;        ///< folder of the run files and the log
  bool starts_idle = false;  ///< the first run waits for a start
  RunHook hook;
};

/// Stands for the number of a run, with at least four digits, in names of its other files.
inline constexpr const char* kRunPlace = "{run}";

/// The output of run `number`: the settings with the run file DIR/run_0042.h5, and the number in the names of its other
/// files.
OutputSettings output_of_run(const OutputSettings& output, const SeriesSettings& series, std::uint64_t number,
                             const std::string& comment);

/// The options of `run`; std::nullopt without --runs. Throws UserError if other options conflict with them, or if a
/// file would be the same in each run.
std::optional<SeriesSettings> series_settings(const boost::program_options::variables_map& values,
                                              const SourceSettings& sources, const OutputSettings& output);

}  // namespace eventloom
