#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/engine/claim_role.hpp"
#include "core/engine/event_loop.hpp"
#include "core/engine/role_layout.hpp"
#include "core/engine/slot_clock.hpp"
#include "core/exchange/inbox.hpp"
#include "core/exchange/outbox.hpp"
#include "core/transport/network.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// Limits on what is in flight.
struct InFlight {
  std::uint32_t slices = 4;     ///< slices that a builder assembles at a time
  std::uint32_t transfers = 0;  ///< messages of one rank's sources; 0: see transfers_for()
};

struct WiringSettings {
  Roles roles;
  RingGeometry ring;
  ScheduleSettings schedule;  ///< the numbers of sources and builders are taken from the roles
  InFlight in_flight;
  SliceSet finished = {};  ///< slices that are not built
  Bodies bodies = Bodies::kept;
};

/// How many slices may be claimed beyond the lowest one not yet built: enough for one builder to lag several rounds
/// behind the others.
std::uint64_t claim_ahead(std::uint32_t slices_in_flight, std::uint32_t builders);
/// Geometry of the rings that carry claims and assignments.
RingGeometry claim_note_geometry(std::uint64_t ahead, std::uint32_t builders);

/// The exchange as one rank sees it: the windows, its ends of all rings, and the scheduler, with the claim roles if the
/// schedule needs them. Construction and destruction are collective. It must outlive everything it hands out. `idle`
/// and `clock`: this rank's, for its event loop and for slots. Throws UserError, the same on all ranks, when the
/// schedule does not fit the roles, or the rings do not fit into memory.
class Wiring {
 public:
  Wiring(const WiringSettings& settings, Network& network, IdlePolicy& idle, SteadyClock clock = steady_now);

  /// The window that data are put into.
  [[nodiscard]] Transport& data() { return *data_; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] const Roles& roles() const { return settings_.roles; }
  /// The settings given, completed.
  [[nodiscard]] const WiringSettings& settings() const { return settings_; }
  /// Null when builders do not claim, or this rank neither sends to builders nor builds.
  [[nodiscard]] ClaimRole* claims() { return claims_.get(); }
  /// Null when the schedule has no slots.
  [[nodiscard]] SlotClock* clock() { return clock_.get(); }
  /// Collective. If the schedule has slots, sets the common start, and returns the clock that counts ns from it;
  /// otherwise empty.
  [[nodiscard]] std::function<std::int64_t()> start_clock();

  /// Collective. The roles of this rank, and those for claims, take turns until `ending` is over; see run_roles().
  void run(const std::vector<Role*>& roles, Ending& ending, std::vector<TurnTask*> tasks = {});

  /// The number of assignment notes that this rank has sent; 0 unless builders claim.
  [[nodiscard]] std::uint64_t assignment_notes() const { return assigner_ ? assigner_->notes_sent() : 0; }

  /// Outboxes of this rank's sources, one per builder.
  [[nodiscard]] std::vector<Outbox> source_outboxes();
  /// Rings of a builder of this rank, one per rank with sources.
  [[nodiscard]] std::vector<RingConsumer> builder_rings(BuilderId builder);
  /// Outboxes of a builder of this rank, one per filter.
  [[nodiscard]] std::vector<Outbox> filter_outboxes(BuilderId builder);
  /// Inboxes of a filter of this rank, one per builder.
  [[nodiscard]] std::vector<Inbox> filter_inboxes(FilterId filter);

  [[nodiscard]] bool here(BuilderId id) const { return roles().rank_of(id) == rank_; }
  [[nodiscard]] bool here(FilterId id) const { return roles().rank_of(id) == rank_; }

 private:
  [[nodiscard]] RingConsumer consumer(const RingLink& link, const RingGeometry& geometry, Transport& window);
  [[nodiscard]] RingProducer producer(const RingLink& link, const RingGeometry& geometry, Transport& window);
  [[nodiscard]] Outbox::BodyCrc body_crc(int receiver) const;
  void add_claims();

  WiringSettings settings_;
  int rank_;
  std::unique_ptr<Scheduler> scheduler_;
  RingGeometry notes_;
  RingMap rings_;
  IdlePolicy& idle_;
  SteadyClock time_;
  std::unique_ptr<Transport> data_;
  std::unique_ptr<Transport> control_;
  std::unique_ptr<ClaimRole> claims_;
  std::unique_ptr<AssignerRole> assigner_;
  std::unique_ptr<SlotClock> clock_;
};

}  // namespace eventloom
