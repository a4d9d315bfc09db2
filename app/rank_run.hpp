#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "app/builder_role.hpp"
#include "app/run_config.hpp"
#include "app/run_report.hpp"
#include "app/run_setup.hpp"
#include "app/source_role.hpp"
#include "app/wiring.hpp"
#include "core/dataflow/selector.hpp"
#include "core/mpi/communicator.hpp"
#include "io/hdf5/part_writer.hpp"
#include "io/sorted/sorted_writer.hpp"

namespace eventloom {

/// How the exchange of a run is wired.
WiringSettings wiring_settings(const RunConfig& config, const RunSetup& setup);

/// All that one rank does in a run: its roles, connected by rings. Construction, work() and
/// destruction are collective; the arguments must outlive it.
class RankRun {
 public:
  /// Takes the local sources out of `setup`.
  RankRun(const RunConfig& config, RunSetup& setup, Wiring& wiring, const Communicator& communicator);

  /// Every role takes its turn until all ranks have nothing left to do. Throws UserError when an
  /// input or output fails on this rank; the other ranks then know nothing of it.
  void work();

  /// Ends the part files and says what this rank did. Not collective.
  RunResult close();

 private:
  struct Writer {
    Writer(PartWriterSettings settings, const EventFilter& filter)
        : sink(std::move(settings)), selector(filter, sink) {}
    PartWriter sink;
    Selector selector;
  };

  Selector& add_writer(std::uint32_t number);
  void add_filter(FilterId id);
  void add_builder(BuilderId id);
  void keep_sorted(BuilderId id, BuilderRoleSettings& settings, SliceBuilderSettings& building);
  std::unique_ptr<SliceOutput> output_of(BuilderId id);
  void add_sources(std::function<std::int64_t()> since_start);
  void report(const BuildProblem& problem);

  const RunConfig& config_;
  RunSetup& setup_;
  const Communicator& communicator_;
  Wiring& wiring_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::vector<std::unique_ptr<SortedWriter>> sorted_;
  std::vector<std::unique_ptr<Role>> roles_;     ///< what drains comes before what pushes
  std::map<std::uint32_t, SourceCounts> found_;  ///< by source: what builders here found wrong
  std::uint64_t told_out_of_step_ = 0;           ///< messages of this kind
  SourceRole* sources_ = nullptr;                ///< the one among roles_, if this rank has sources
};

}  // namespace eventloom
