#include "core/engine/builder_role.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/runtime/activity.hpp"
#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

/// Whether the slice needs a row in the output: it has hits, losses, markers left out or incomplete sources.
bool has_row(const std::vector<BuiltSlice>& built) {
  return std::ranges::any_of(built, [](const BuiltSlice& slice) {
    return slice.ledger.hits_in != 0 || !slice.losses.empty() || !slice.left_out.empty() ||
           !slice.sources_missing.empty() || slice.events.size() != 0;
  });
}

}  // namespace

BuilderRole::BuilderRole(BuilderRoleSettings settings, const SliceBuilderSettings& building, const Scheduler& scheduler,
                         Inbox inbox, std::unique_ptr<SliceOutput> output,
                         std::function<void(const BuildProblem&)> report)
    : settings_(std::move(settings)),
      scheduler_(scheduler),
      inbox_(std::move(inbox)),
      assembler_(settings_.n_sources, settings_.stand_in ? Bodies::counted : Bodies::kept),
      output_(std::move(output)),
      report_(std::move(report)),
      from_(settings_.first_slice),
      next_(kNoSlice) {
  built_.builder = settings_.id.value;
  for (std::size_t i = 0; i < settings_.threads; ++i) build_slots_.emplace_back(building);
  find_next();
  report_claims();
}

// The data path of a builder: receive, build (decode, time sort, event definition), pass on.
std::size_t BuilderRole::do_work(SteadyTime now) {
  std::size_t work = inbox_.drain(assembler_);
  work += pass_on();
  const bool gives_way = settings_.gives_way && settings_.gives_way();
  if (n_built_ == 0 && !finished_ && !gives_way) {
    const std::size_t n = take_complete_slices();
    build(n);
    work += n + pass_on();
  }
  grant(work == 0);
  inbox_.grant_far(now);
  return work + output_->do_work();
}

/// Takes the next complete slices in order, at most one per build slot.
std::size_t BuilderRole::take_complete_slices() {
  if (next_ == kNoSlice) find_next();
  const std::uint64_t done_before = done_;
  std::size_t n = 0;
  while (n < build_slots_.size() && !nothing_left() && next_ != kNoSlice && assembler_.complete(next_)) {
    if (!assembler_.holds(next_)) {
      pass_over();
      continue;
    }
    auto assembly = assembler_.take(next_);
    if (assembly->has_more()) {
      build_slots_[n].slice = next_;
      build_slots_[n].input = std::move(assembly);
      ++n;
    } else {
      done_with(next_, std::move(assembly));
      output_->pass({next_, {next_.value + 1}});
      ++done_;
    }
    from_ = {next_.value + 1};
    find_next();
  }
  // Builders also claim slices without data, including those after the last data.
  if (done_ != done_before) report_claims();
  if (n == 0 && nothing_left()) finish();
  return n;
}

/// Skips the next slice, for which no source has data, and those after it up to the first slice with data from any
/// source.
void BuilderRole::pass_over() {
  const SliceId after{next_.value + 1};
  gap_ = {next_, std::max(after, assembler_.nothing_up_to(next_))};
  output_->pass(gap_);
  ++done_;
  // Claimed slices are completed one at a time.
  from_ = settings_.claims == nullptr ? gap_.end : after;
  assembler_.pass(from_);
  find_next();
}

void BuilderRole::find_next() { next_ = next_unfinished(scheduler_, settings_.finished, settings_.id, from_); }

/// All sources have ended, and this builder has and will get no more slices with data.
bool BuilderRole::nothing_left() const {
  if (!assembler_.all_ended()) return false;
  if (next_ != kNoSlice) return next_ >= assembler_.data_end();
  return settings_.claims == nullptr || settings_.claims->claimed_end() >= assembler_.data_end();
}

void BuilderRole::finish() {
  finished_ = true;
  output_->end(assembler_.data_end());
  report_claims();
}

/// Claims as many slices as this builder has room for.
void BuilderRole::report_claims() {
  if (settings_.claims == nullptr) return;
  Claim claim;
  claim.builder = settings_.id.value;
  claim.built = done_;
  claim.claimed = done_ + settings_.slices_in_flight;
  claim.finished = finished_ ? 1 : 0;
  claim.gap_begin = gap_.begin.value;
  claim.gap_end = gap_.end.value;
  settings_.claims->claim(claim);
}

void BuilderRole::build(std::size_t n) {
  const Activity activity("building slices");
  const auto begun = settings_.measures ? steady_ns() : 0;
  build_all(n);
  if (settings_.measures) built_.busy_ns += static_cast<std::uint64_t>(steady_ns() - begun);
  n_built_ = n;
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& problem : build_slots_[i].problems) report_(problem);
    done_with(build_slots_[i].slice, std::move(build_slots_[i].input));
  }
}

void BuilderRole::done_with(SliceId slice, std::unique_ptr<SliceAssembly> input) {
  assembler_.recycle(std::move(input));
  if (settings_.lent != nullptr) settings_.lent->give_back(slice);
}

void BuilderRole::build_all(std::size_t n) {
  if (n == 1) {
    build_in(build_slots_.front());
  } else if (n > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(static_cast <int>(n))
    for (std::size_t i = 0; i < n; ++i) try_to_build_in(build_slots_[i]);
    for (std::size_t i = 0; i < n; ++i) {
      if (build_slots_[i].error) std::rethrow_exception(std::exchange(build_slots_[i].error, nullptr));
    }
  }
}

/// Each event is counted once, in the slice that owns it, though other slices may contain it.
void BuilderRole::count(const std::vector<BuiltSlice>& slice) {
  ++built_.slices;
  built_.hits += slice.front().ledger.hits_in;
  for (const auto& found : slice) {
    for (const auto owned : found.events.owned) built_.events += owned;
  }
}

void BuilderRole::add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const {
  for (const auto& slot : build_slots_) slot.builder.add_to(use, unplaced, spans);
}

/// An exception must not leave a parallel region.
void BuilderRole::try_to_build_in(BuildSlot& slot) {
  try {
    build_in(slot);
  } catch (...) {
    slot.error = std::current_exception();
  }
}

void BuilderRole::build_in(BuildSlot& slot) {
  if (settings_.stand_in) {
    slot.output.resize(1);  // without events
    return settings_.stand_in(slot.slice, *slot.input);
  }
  slot.sources.resize(settings_.n_sources);
  for (std::size_t s = 0; s < settings_.n_sources; ++s) {
    const auto& part = slot.input->part(s);
    fill(slot.sources[s], slot.slice, static_cast<std::uint32_t>(s), part);
  }
  slot.problems.clear();
  slot.builder.build(slot.slice, slot.sources, slot.output, slot.problems,
                     settings_.keep_sorted ? &slot.sorted : nullptr);
  for (auto& slice : slot.output) slice.ledger.builder = settings_.id.value;
}

void BuilderRole::fill(SourceSlice& source, SliceId slice, std::uint32_t origin,
                       const SliceAssembly::Part& part) const {
  source.damage = part.damage();
  if (!part.lent) {
    source.pieces.assign(1, part.buffers());
  } else if (settings_.lent != nullptr) {
    source.pieces = settings_.lent->pieces(slice, origin);
  } else {
    throw std::runtime_error("exchange: slice " + std::to_string(slice.value) + " of origin " + std::to_string(origin) +
                             " is lent to a builder that does not borrow");
  }
}

std::size_t BuilderRole::pass_on() {
  std::size_t passed = 0;
  while (n_passed_ < n_built_ && output_->accepts(build_slots_[n_passed_].slice)) {
    auto& slot = build_slots_[n_passed_];
    if (settings_.keep_sorted) settings_.keep_sorted(slot.sorted);
    if (settings_.watch_built) settings_.watch_built(slot.output.front());
    count(slot.output);
    if (has_row(slot.output)) {
      output_->put(slot.output);
    } else {
      output_->pass({slot.slice, {slot.slice.value + 1}});
    }
    ++n_passed_;
    ++passed;
    ++done_;
  }
  if (n_passed_ == n_built_) n_passed_ = n_built_ = 0;
  if (passed != 0) report_claims();
  return passed;
}

/// The limit counts from the lowest slice not yet taken. Claimed slices need none: claims are made only for free room.
void BuilderRole::grant(bool eager) {
  if (settings_.claims != nullptr) return inbox_.grant(kNoSlice, eager);
  const std::uint64_t ahead = std::uint64_t{settings_.slices_in_flight} * settings_.n_builders;
  inbox_.grant({next_.value + ahead}, eager);
}

}  // namespace eventloom
