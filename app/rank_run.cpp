#include "app/rank_run.hpp"

#include <algorithm>

#include "app/filter_role.hpp"
#include "app/progress.hpp"
#include "core/runtime/idle.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/threads.hpp"

namespace eventloom {

RankRun::RankRun(const RunConfig& config, RunSetup& setup, const Communicator& communicator)
    : config_(config),
      setup_(setup),
      communicator_(communicator),
      scheduler_(make_scheduler(config.schedule, setup.roles.builders)),
      rings_(setup.roles, config.ring),
      transport_(communicator, rings_.window_bytes[static_cast<std::size_t>(communicator.rank())]) {
  // What drains comes before what pushes.
  for (std::uint32_t f = 0; f < setup.roles.filters; ++f) add_filter({f});
  for (std::uint32_t b = 0; b < setup.roles.builders; ++b) add_builder({b});
  add_sources();
}

void RankRun::work() {
  Progress progress(communicator_.rank() == 0);
  Idle idle;
  while (!all_done()) {
    const auto now = std::chrono::steady_clock::now();
    std::size_t done = 0;
    for (auto& role : roles_) done += role->do_work(now);
    transport_.progress();
    if (sources_ != nullptr) progress.update(now, sources_->slices_sent(), sources_->slices_expected());
    if (done != 0) {
      idle.reset();
    } else {
      settle();
      idle.wait();
    }
  }
  progress.finish();
  settle();
  // Others may still need this rank's progress.
  PendingBarrier barrier(communicator_);
  while (!barrier.done()) idle.wait();
}

RunResult RankRun::close() {
  RunResult result;
  for (auto& writer : writers_) {
    result.totals.add(writer->selector.totals());
    for (auto& part : writer->sink.close()) result.parts.push_back(std::move(part));
  }
  if (sources_ != nullptr) {
    result.hits_read = sources_->hits_read();
    result.totals.anomalies = sources_->anomalies();
  }
  return result;
}

bool RankRun::all_done() const {
  return std::ranges::all_of(roles_, [](const auto& role) { return role->done(); });
}

void RankRun::settle() {
  for (auto& role : roles_) role->settle();
}

Selector& RankRun::add_writer(std::uint32_t number) {
  PartWriterSettings settings;
  settings.run_file = config_.output;
  settings.writer = number;
  settings.base = setup_.meaning.geometry.base;
  settings.n_sources = setup_.roles.sources;
  settings.with_payload = setup_.with_payload;
  settings.compress = config_.compress;
  settings.segment_bytes = config_.segment_bytes;
  writers_.push_back(std::make_unique<Writer>(std::move(settings), setup_.meaning.filter));
  return writers_.back()->selector;
}

RingConsumer RankRun::consumer(const RingLink& link) {
  return {transport_, link.sender, link.ring_offset, link.credit_offset, config_.ring};
}

Outbox RankRun::outbox(const RingLink& link, Outbox::BodyCrc crc) {
  return {RingProducer(transport_, link.receiver, link.ring_offset, link.credit_offset, config_.ring), crc};
}

void RankRun::add_filter(FilterId id) {
  if (setup_.roles.rank_of(id) != communicator_.rank()) return;
  std::vector<Inbox> inboxes;
  for (const auto& link : rings_.to_filter[id.value]) inboxes.emplace_back(std::vector{consumer(link)});
  const FilterRoleSettings settings{id, setup_.first_slice, setup_.roles.filters, setup_.roles.builders,
                                    config_.slices_in_flight};
  roles_.push_back(std::make_unique<FilterRole>(settings, *scheduler_, std::move(inboxes), add_writer(id.value)));
}

void RankRun::add_builder(BuilderId id) {
  if (setup_.roles.rank_of(id) != communicator_.rank()) return;
  std::vector<RingConsumer> rings;
  for (const auto& link : rings_.to_builder[id.value]) rings.push_back(consumer(link));
  BuilderRoleSettings settings;
  settings.id = id;
  settings.first_slice = setup_.first_slice;
  settings.n_sources = setup_.roles.sources;
  settings.n_builders = setup_.roles.builders;
  settings.slices_in_flight = config_.slices_in_flight;
  settings.threads = builder_threads();
  SliceBuilderSettings building{setup_.meaning.geometry, setup_.meaning.definition, {}, setup_.with_payload};
  for (const auto& source : setup_.sources) building.payload.push_back(source.payload);
  roles_.push_back(std::make_unique<BuilderRole>(settings, building, *scheduler_, Inbox(std::move(rings)),
                                                 output_of(id), [this](const BuildProblem& p) { report(p); }));
}

std::unique_ptr<SliceOutput> RankRun::output_of(BuilderId id) {
  if (setup_.roles.filters == 0) return std::make_unique<LocalOutput>(add_writer(id.value));
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_filter) outboxes.push_back(outbox(links[id.value], Outbox::BodyCrc::all));
  return std::make_unique<FilterOutput>(std::move(outboxes));
}

void RankRun::add_sources() {
  if (setup_.local.empty()) return;
  const auto ranks = setup_.roles.source_ranks();
  const auto me = static_cast<std::size_t>(std::ranges::find(ranks, communicator_.rank()) - ranks.begin());
  std::vector<Outbox> outboxes;
  for (const auto& links : rings_.to_builder) outboxes.push_back(outbox(links[me], Outbox::BodyCrc::staged));
  SourceRoleSettings settings;
  settings.geometry = setup_.meaning.geometry;
  settings.first_slice = setup_.first_slice;
  settings.n_builders = setup_.roles.builders;
  settings.max_lead = 2 * std::uint64_t{config_.slices_in_flight} * setup_.roles.builders;
  settings.speed = config_.speed;
  auto role = std::make_unique<SourceRole>(settings, *scheduler_, std::move(setup_.local), std::move(outboxes));
  sources_ = role.get();
  roles_.push_back(std::move(role));
}

void RankRun::report(const BuildProblem& problem) const {
  spdlog::error("{}: offset {}: {}; an epoch buffer of {} hits from epoch {} on is dropped",
                setup_.sources[problem.source.value].name, problem.damage.file_offset, problem.reason,
                problem.damage.n_hits, problem.damage.first_epoch);
}

}  // namespace eventloom
