#pragma once

#include <memory>
#include <vector>

#include "app/builder_role.hpp"
#include "app/roles.hpp"
#include "app/run_config.hpp"
#include "app/run_report.hpp"
#include "app/run_setup.hpp"
#include "app/source_role.hpp"
#include "core/dataflow/selector.hpp"
#include "core/mpi/communicator.hpp"
#include "core/transport/mpi_rma_transport.hpp"
#include "io/hdf5/part_writer.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// All that one rank does in a run: its roles, connected by rings. Construction, work() and
/// destruction are collective; the arguments must outlive it.
class RankRun {
 public:
  /// Takes the local sources out of `setup`.
  RankRun(const RunConfig& config, RunSetup& setup, const Communicator& communicator);

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

  [[nodiscard]] bool all_done() const;
  void settle();
  Selector& add_writer(std::uint32_t number);
  RingConsumer consumer(const RingLink& link);
  Outbox outbox(const RingLink& link, Outbox::BodyCrc crc);
  void add_filter(FilterId id);
  void add_builder(BuilderId id);
  std::unique_ptr<SliceOutput> output_of(BuilderId id);
  void add_sources();
  void report(const BuildProblem& problem) const;

  const RunConfig& config_;
  RunSetup& setup_;
  const Communicator& communicator_;
  std::unique_ptr<Scheduler> scheduler_;
  RingMap rings_;
  MpiRmaTransport transport_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::vector<std::unique_ptr<Role>> roles_;
  SourceRole* sources_ = nullptr;  ///< the one among roles_, if this rank has sources
};

}  // namespace eventloom
