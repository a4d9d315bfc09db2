#include "core/engine/wiring.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/engine/ring_sizes.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/setting.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kNotes = 16;

WiringSettings completed(WiringSettings settings) {
  settings.schedule.n_sources = settings.roles.sources;
  settings.schedule.n_builders = settings.roles.builders;
  settings.schedule.claim_ahead = claim_ahead(settings.in_flight.slices, settings.roles.builders);
  return settings;
}

std::unique_ptr<Scheduler> scheduler_of(const ScheduleSettings& settings) {
  try {
    return make_scheduler(settings);
  } catch (const std::invalid_argument& e) {
    throw UserError(name_of(Setting::schedule) + ": " + e.what());
  }
}

std::optional<RingGeometry> note_rings(const WiringSettings& settings, Scheduler& scheduler) {
  if (scheduler.claims() == nullptr) return std::nullopt;
  return claim_note_geometry(settings.schedule.claim_ahead, settings.roles.builders);
}

std::string what_to_lower(const Roles& roles) {
  std::string options = roles.filters == 0 ? "" : name_of(Setting::filters) + ", ";
  if (roles.builders > static_cast<std::uint32_t>(roles.ranks)) options += name_of(Setting::builders) + ", ";
  return options + name_of(Setting::ring_depth) + " or " + name_of(Setting::cell_size);
}

/// Collective: the memory that each rank needs, and its bounds.
std::vector<MemoryNeed> all_needs(const Network& network, std::uint64_t bytes) {
  /// A bound without its name, which is gathered separately.
  struct PlainBound {
    std::uint64_t bytes = 0;
    std::uint64_t of_process = 0;
  };
  const auto& ranks = network.ranks();
  std::vector<std::string> my_names;
  std::vector<PlainBound> my_bounds;
  for (const auto& bound : network.memory_bounds()) {
    my_names.push_back(bound.what);
    my_bounds.push_back({bound.bytes, bound.of_process ? 1U : 0U});
  }
  const auto hosts = ranks.all_gather(host_name());
  const auto all_bytes = ranks.all_gather(bytes);
  const auto names = ranks.all_gather(my_names);
  const auto bounds = ranks.all_gather(my_bounds);
  std::vector<MemoryNeed> needs;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    auto& need = needs.emplace_back(MemoryNeed{hosts[r], all_bytes[r], {}});
    for (std::size_t i = 0; i < bounds[r].size(); ++i) {
      need.bounds.push_back({names[r][i], bounds[r][i].bytes, bounds[r][i].of_process != 0});
    }
  }
  return needs;
}

/// Collective. Rejects rings that do not fit into the hosts' memory, before any is allocated.
void require_memory(const WiringSettings& settings, Scheduler& scheduler, const Network& network) {
  const auto& ranks = network.ranks();
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const auto mine = exchange_bytes(settings.roles, settings.ring, note_rings(settings, scheduler))[rank];
  const auto needs = all_needs(network, mine);
  agree(ranks, [&] {
    const auto shortage = memory_shortage(needs);
    if (!shortage.empty()) throw UserError(shortage + ": lower " + what_to_lower(settings.roles));
  });
}

/// Collective. Makes the scheduler, and checks that the rings fit into memory.
std::unique_ptr<Scheduler> admitted(const WiringSettings& settings, const Network& network) {
  std::unique_ptr<Scheduler> scheduler;
  agree(network.ranks(), [&] { scheduler = scheduler_of(settings.schedule); });
  require_memory(settings, *scheduler, network);
  return scheduler;
}

ClockSync::Clock in_ns(const SteadyClock& clock) {
  return [clock] { return std::chrono::nanoseconds(clock().time_since_epoch()).count(); };
}

}  // namespace

std::uint64_t claim_ahead(std::uint32_t slices_in_flight, std::uint32_t builders) {
  return 8 * std::uint64_t{slices_in_flight} * builders;
}

RingGeometry claim_note_geometry(std::uint64_t ahead, std::uint32_t builders) {
  const std::uint64_t assignment = sizeof(Assignment) + std::min(ahead, kMostSlicesInNote) * sizeof(std::uint32_t);
  const std::uint64_t claims = std::min<std::uint64_t>(builders, kMostClaimsInNote) * sizeof(Claim);
  return {kNotes, note_cell_bytes(std::max(assignment, claims))};
}

Wiring::Wiring(const WiringSettings& settings, Network& network, IdlePolicy& idle, SteadyClock clock)
    : settings_(completed(settings)),
      rank_(network.ranks().rank()),
      scheduler_(admitted(settings_, network)),
      notes_(claim_note_geometry(settings_.schedule.claim_ahead, settings_.roles.builders)),
      rings_(settings_.roles, settings_.ring, note_rings(settings_, *scheduler_), rank_),
      idle_(idle),
      time_(std::move(clock)),
      data_(network.open_window(rings_.window_bytes[static_cast<std::size_t>(rank_)])),
      control_(network.open_control_window(rings_.control_bytes[static_cast<std::size_t>(rank_)])) {
  if (scheduler_->claims() != nullptr) add_claims();
  const auto slot_ns = scheduler_->slot_ns();
  if (slot_ns != 0) clock_ = std::make_unique<SlotClock>(network, slot_ns, idle_, in_ns(time_));
}

std::function<std::int64_t()> Wiring::start_clock() {
  if (!clock_) return {};
  clock_->start();
  return [this] { return clock_->since_start(); };
}

void Wiring::run(const std::vector<Role*>& roles, Ending& ending, std::vector<TurnTask*> tasks) {
  std::vector<Role*> all;
  if (assigner_) all.push_back(assigner_.get());
  if (claims_) all.push_back(claims_.get());
  all.insert(all.end(), roles.begin(), roles.end());
  if (clock_) tasks.insert(tasks.begin(), clock_.get());
  run_roles(all, {*data_, *control_}, ending, time_, idle_, tasks);
  if (clock_) clock_->stop();
}

void Wiring::add_claims() {
  std::optional<NoteSender> to_assigner;
  std::optional<NoteReceiver> from_assigner;
  std::vector<NoteReceiver> claims;
  std::vector<NoteSender> assignments;
  for (const auto& link : rings_.to_assigner) {
    if (link.sender == rank_) to_assigner.emplace(producer(link, notes_, *control_));
    if (link.receiver == rank_) claims.emplace_back(consumer(link, notes_, *control_));
  }
  for (const auto& link : rings_.from_assigner) {
    if (link.sender == rank_) assignments.emplace_back(producer(link, notes_, *control_));
    if (link.receiver == rank_) from_assigner.emplace(consumer(link, notes_, *control_));
  }
  if (from_assigner) {
    claims_ = std::make_unique<ClaimRole>(*scheduler_->claims(), std::move(to_assigner), *from_assigner);
  }
  if (rank_ != settings_.roles.assigner_rank()) return;
  assigner_ =
      std::make_unique<AssignerRole>(scheduler_of(settings_.schedule), settings_.finished, settings_.roles.builders,
                                     settings_.schedule.claim_ahead, std::move(claims), std::move(assignments));
}

RingConsumer Wiring::consumer(const RingLink& link, const RingGeometry& geometry, Transport& window) {
  return {{window, *control_}, link.sender, link.ring_offset, link.credit_offset, link.placed(geometry)};
}

RingProducer Wiring::producer(const RingLink& link, const RingGeometry& geometry, Transport& window) {
  return {{window, *control_}, link.receiver, link.ring_offset, link.credit_offset, link.placed(geometry)};
}

std::vector<Outbox> Wiring::source_outboxes() {
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_builder) {
    const auto mine = std::ranges::find(links, rank_, &RingLink::sender);
    outboxes.emplace_back(producer(*mine, settings_.ring, *data_), body_crc(mine->receiver));
  }
  return outboxes;
}

/// Between hosts, a checksum of every byte costs less than waiting for an acknowledgement before notifying the
/// receiver; within a host it costs more.
Outbox::BodyCrc Wiring::body_crc(int receiver) const {
  if (settings_.bodies == Bodies::counted) return Outbox::BodyCrc::none;
  return data_->is_near(receiver) ? Outbox::BodyCrc::staged : Outbox::BodyCrc::all;
}

std::vector<RingConsumer> Wiring::builder_rings(BuilderId builder) {
  std::vector<RingConsumer> rings;
  for (const auto& link : rings_.to_builder[builder.value]) rings.push_back(consumer(link, settings_.ring, *data_));
  return rings;
}

std::vector<Outbox> Wiring::filter_outboxes(BuilderId builder) {
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_filter) {
    outboxes.emplace_back(producer(links[builder.value], settings_.ring, *data_), Outbox::BodyCrc::all);
  }
  return outboxes;
}

std::vector<Inbox> Wiring::filter_inboxes(FilterId filter) {
  std::vector<Inbox> inboxes;
  for (const auto& link : rings_.to_filter[filter.value]) {
    inboxes.emplace_back(std::vector{consumer(link, settings_.ring, *data_)});
  }
  return inboxes;
}

}  // namespace eventloom
