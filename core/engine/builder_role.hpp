#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "core/dataflow/slice_builder.hpp"
#include "core/engine/claim_role.hpp"
#include "core/engine/role.hpp"
#include "core/engine/slice_output.hpp"
#include "core/exchange/inbox.hpp"
#include "core/exchange/lent_slices.hpp"
#include "formats/slice_range.hpp"
#include "formats/telemetry_wire.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

struct BuilderRoleSettings {
  BuilderId id;
  SliceId first_slice;
  SliceSet finished = {};  ///< slices that are not built
  std::uint32_t n_sources = 0;
  std::uint32_t n_builders = 1;
  std::uint32_t slices_in_flight = 4;  ///< slices of this builder that sources may send at a time
  std::size_t threads = 1;             ///< slices built at a time
  ClaimRole* claims = nullptr;         ///< null unless builders claim their slices; must outlive the builder
  /// Whether this rank's other work takes precedence over building now; empty: never.
  std::function<bool()> gives_way = {};
  /// Called with the time-sorted hits of each slice, in ascending order of slices; empty: they are not kept.
  std::function<void(const SortedSlice&)> keep_sorted = {};
  /// Called with the first kind of events of each built slice, in ascending order; may be empty.
  std::function<void(const BuiltSlice&)> watch_built = {};
  /// Holds the loans of this rank's sources, and outlives the builder; null: they lend nothing.
  LentSlices* lent = nullptr;
  bool measures = false;  ///< measure the time spent building
  /// Called with each slice instead of building it, for simulations, whose data exist only as lengths. May be empty.
  std::function<void(SliceId, const SliceAssembly&)> stand_in = {};
};

/// Receives the epoch buffers of its slices, builds each slice once it is complete, and passes the slices on in
/// ascending order.
class BuilderRole final : public Role {
 public:
  BuilderRole(BuilderRoleSettings settings, const SliceBuilderSettings& building, const Scheduler& scheduler,
              Inbox inbox, std::unique_ptr<SliceOutput> output, std::function<void(const BuildProblem&)> report);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return finished_ && output_->done(); }
  [[nodiscard]] SteadyTime due() const override { return inbox_.due(); }

  /// What it has built so far; the time only if settings.measures is set.
  [[nodiscard]] const BuilderRow& built() const { return built_; }
  /// Adds the channels of the detector that have had hits, hits without a position and spans, see SliceBuilder.
  void add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const;

 private:
  /// One slice being built, with the memory that building needs.
  struct BuildSlot {
    explicit BuildSlot(const SliceBuilderSettings& building) : builder(building) {}
    SliceBuilder builder;
    std::unique_ptr<SliceAssembly> input;
    std::vector<SourceSlice> sources;
    std::vector<BuiltSlice> output;  ///< one per kind of events
    SortedSlice sorted;
    std::vector<BuildProblem> problems;
    SliceId slice;
    std::exception_ptr error;  ///< thrown by the thread that built it
  };

  std::size_t take_complete_slices();
  void pass_over();
  void finish();
  void build(std::size_t n);
  void build_all(std::size_t n);
  void done_with(SliceId slice, std::unique_ptr<SliceAssembly> input);
  void fill(SourceSlice& source, SliceId slice, std::uint32_t origin, const SliceAssembly::Part& part) const;
  void count(const std::vector<BuiltSlice>& slice);
  std::size_t pass_on();
  void try_to_build_in(BuildSlot& slot);
  void build_in(BuildSlot& slot);
  void grant(bool eager);
  void find_next();
  [[nodiscard]] bool nothing_left() const;
  void report_claims();

  BuilderRoleSettings settings_;
  const Scheduler& scheduler_;
  Inbox inbox_;
  SliceAssembler assembler_;
  std::unique_ptr<SliceOutput> output_;
  std::function<void(const BuildProblem&)> report_;
  std::vector<BuildSlot> build_slots_;
  std::size_t n_built_ = 0;   ///< the first build slots, whose output waits to be passed on
  std::size_t n_passed_ = 0;  ///< build slots already passed on
  SliceId from_;              ///< all slices of this builder before this one have been taken
  SliceId next_;              ///< the lowest slice not yet taken; kNoSlice while unknown
  SliceRange gap_;            ///< the last gap found: no source has data in it
  std::uint64_t done_ = 0;    ///< slices taken and finished
  bool finished_ = false;
  BuilderRow built_;
};

}  // namespace eventloom
