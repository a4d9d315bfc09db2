#include "app/wiring.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/json_message.hpp"
#include "app/ring_sizes.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kNotes = 16;

WiringSettings completed(WiringSettings settings) {
  settings.schedule.n_sources = settings.roles.sources;
  settings.schedule.n_builders = settings.roles.builders;
  settings.schedule.claim_ahead = claim_ahead(settings.slices_in_flight, settings.roles.builders);
  return settings;
}

std::unique_ptr<Scheduler> scheduler_of(const ScheduleSettings& settings) {
  try {
    return make_scheduler(settings);
  } catch (const std::invalid_argument& e) {
    throw UserError("--schedule: " + std::string(e.what()));
  }
}

std::optional<RingGeometry> note_rings(const WiringSettings& settings, Scheduler& scheduler) {
  if (scheduler.claims() == nullptr) return std::nullopt;
  return claim_note_geometry(settings.schedule.claim_ahead, settings.roles.builders);
}

std::string what_to_lower(const Roles& roles) {
  std::string options = roles.filters == 0 ? "" : "--filters, ";
  if (roles.builders > static_cast<std::uint32_t>(roles.ranks)) options += "--builders, ";
  return options + "--ring-depth or --cell-size";
}

/// Collective. Refuses what would bring the hosts down, before any of it is allocated.
void require_memory(const WiringSettings& settings, Scheduler& scheduler, const Collective& ranks) {
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const auto mine = exchange_bytes(settings.roles, settings.ring, note_rings(settings, scheduler))[rank];
  nlohmann::json json{host_name(), mine};
  for (const auto& bound : memory_there_is()) json.push_back({bound.what, bound.bytes, bound.of_process});
  std::vector<MemoryNeed> needs;
  for (const auto& told : all_gather_json(ranks, json)) {
    auto& need = needs.emplace_back(MemoryNeed{told.at(0), told.at(1), {}});
    for (std::size_t i = 2; i < told.size(); ++i) need.bounds.push_back({told[i].at(0), told[i].at(1), told[i].at(2)});
  }
  agree(ranks, [&] {
    const auto shortage = memory_shortage(needs);
    if (!shortage.empty()) throw UserError(shortage + ": lower " + what_to_lower(settings.roles));
  });
}

/// Collective.
std::unique_ptr<Scheduler> admitted(const WiringSettings& settings, const Collective& ranks) {
  std::unique_ptr<Scheduler> scheduler;
  agree(ranks, [&] { scheduler = scheduler_of(settings.schedule); });
  require_memory(settings, *scheduler, ranks);
  return scheduler;
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

Wiring::Wiring(const WiringSettings& settings, const Communicator& communicator)
    : settings_(completed(settings)),
      rank_(communicator.rank()),
      scheduler_(admitted(settings_, communicator)),
      notes_(claim_note_geometry(settings_.schedule.claim_ahead, settings_.roles.builders)),
      rings_(settings_.roles, settings_.ring, note_rings(settings_, *scheduler_)),
      transport_(communicator, rings_.window_bytes[static_cast<std::size_t>(rank_)]) {
  if (scheduler_->claims() != nullptr) add_claims();
  if (scheduler_->slot_ns() != 0) clock_ = std::make_unique<SlotClock>(communicator, scheduler_->slot_ns());
}

std::function<std::int64_t()> Wiring::start_clock() {
  if (!clock_) return {};
  clock_->start();
  return [this] { return clock_->since_start(); };
}

void Wiring::run(const std::vector<Role*>& roles, Ending& ending, Idle idle,
                 const std::function<void(SteadyTime)>& each_turn) {
  std::vector<Role*> all;
  if (assigner_) all.push_back(assigner_.get());
  if (claims_) all.push_back(claims_.get());
  all.insert(all.end(), roles.begin(), roles.end());
  run_roles(all, transport_, ending, idle, [&](SteadyTime now) {
    if (clock_) clock_->do_work();
    each_turn(now);
  });
  if (clock_) clock_->stop();
}

void Wiring::add_claims() {
  std::optional<NoteSender> to_assigner;
  std::optional<NoteReceiver> from_assigner;
  std::vector<NoteReceiver> claims;
  std::vector<NoteSender> assignments;
  for (const auto& link : rings_.to_assigner) {
    if (link.sender == rank_) to_assigner.emplace(producer(link, notes_));
    if (link.receiver == rank_) claims.emplace_back(consumer(link, notes_));
  }
  for (const auto& link : rings_.from_assigner) {
    if (link.sender == rank_) assignments.emplace_back(producer(link, notes_));
    if (link.receiver == rank_) from_assigner.emplace(consumer(link, notes_));
  }
  if (from_assigner) {
    claims_ = std::make_unique<ClaimRole>(*scheduler_->claims(), std::move(to_assigner), *from_assigner);
  }
  if (rank_ != settings_.roles.assigner_rank()) return;
  assigner_ =
      std::make_unique<AssignerRole>(scheduler_of(settings_.schedule), settings_.finished, settings_.roles.builders,
                                     settings_.schedule.claim_ahead, std::move(claims), std::move(assignments));
}

RingConsumer Wiring::consumer(const RingLink& link, const RingGeometry& geometry) {
  return {transport_, link.sender, link.ring_offset, link.credit_offset, geometry};
}

RingProducer Wiring::producer(const RingLink& link, const RingGeometry& geometry) {
  return {transport_, link.receiver, link.ring_offset, link.credit_offset, geometry};
}

std::vector<Outbox> Wiring::source_outboxes() {
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_builder) {
    const auto mine = std::ranges::find(links, rank_, &RingLink::sender);
    outboxes.emplace_back(producer(*mine, settings_.ring), Outbox::BodyCrc::staged);
  }
  return outboxes;
}

std::vector<RingConsumer> Wiring::builder_rings(BuilderId builder) {
  std::vector<RingConsumer> rings;
  for (const auto& link : rings_.to_builder[builder.value]) rings.push_back(consumer(link, settings_.ring));
  return rings;
}

std::vector<Outbox> Wiring::filter_outboxes(BuilderId builder) {
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_filter) {
    outboxes.emplace_back(producer(links[builder.value], settings_.ring), Outbox::BodyCrc::all);
  }
  return outboxes;
}

std::vector<Inbox> Wiring::filter_inboxes(FilterId filter) {
  std::vector<Inbox> inboxes;
  for (const auto& link : rings_.to_filter[filter.value]) {
    inboxes.emplace_back(std::vector{consumer(link, settings_.ring)});
  }
  return inboxes;
}

}  // namespace eventloom
