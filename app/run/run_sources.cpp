#include "app/run/run_sources.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "app/command/mpi_command.hpp"
#include "app/run/run_detector.hpp"
#include "core/dataflow/live_stream.hpp"
#include "core/detector/resolve_detector.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/recorded/looped_source.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr auto kSourceLook = std::chrono::milliseconds(2);
constexpr auto kDrainAtSetup = std::chrono::seconds(1);
/// How long a run that is asked to stop waits for sources whose data may be in flight.
constexpr auto kLastCall = std::chrono::milliseconds(200);

/// State of the live sources of one rank, or of all ranks.
struct Readiness {
  std::size_t live = 0;
  std::size_t known = 0;  ///< sources with final header and first epoch
  std::size_t heard = 0;  ///< sources with data
  bool give_up = false;
  bool time_over = false;
  bool stopped = false;

  void add(const Readiness& other) {
    live += other.live;
    known += other.known;
    heard += other.heard;
    give_up = give_up || other.give_up;
    time_over = time_over || other.time_over;
    stopped = stopped || other.stopped;
  }
};

Readiness look(const std::vector<LocalSource>& local, LiveWait& watch) {
  Readiness ready;
  for (const auto& source : local) {
    if (source.live == nullptr) continue;
    source.live->receive();
    ++ready.live;
    const auto peer = source.live->peer();
    if (peer.place) watch.hear(source.id, *peer.place);
    ready.known += peer.known ? 1 : 0;
    ready.heard += source.live->first_epoch() ? 1 : 0;
  }
  return ready;
}

Readiness of_all(const Readiness& mine, const Collective& ranks) {
  Readiness all;
  for (const auto& one : ranks.all_gather(mine)) all.add(one);
  return all;
}

/// The run ends before these sources have begun: they consist of what they have sent so far. Sources that have begun
/// continue to the end of the run, which is the same for all.
void drain_unknown(const std::vector<LocalSource>& local) {
  std::vector<LiveStream*> open;
  for (const auto& source : local) {
    if (source.live == nullptr || source.live->peer().known) continue;
    source.live->finish(std::nullopt);
    open.push_back(source.live);
  }
  const auto longest = steady_clock::now() + kDrainAtSetup;
  while (!open.empty() && steady_clock::now() < longest) {
    for (auto* live : open) live->receive();
    std::erase_if(open, [](const LiveStream* live) { return live->progress().drained; });
    if (!open.empty()) std::this_thread::sleep_for(kSourceLook);
  }
}

/// How long a run waits before it reports that: most sources are available immediately.
constexpr auto kAtOnce = std::chrono::milliseconds(200);
constexpr std::size_t kMostNamed = 8;

/// Names the sources that the run waits for, first immediately, then each time the wait has doubled.
class SetupPatience {
 public:
  explicit SetupPatience(nanoseconds first) : first_(first) {}

  /// `all`: the sources of all ranks.
  void report(const std::vector<LocalSource>& local, const Readiness& all) {
    const nanoseconds waited = steady_clock::now() - begin_;
    if (waited >= kAtOnce && all.known != said_) say(local, all);
    if (first_.count() == 0 || waited < std::max(first_, 2 * reported_)) return;
    reported_ = waited;
    for (const auto& source : local) {
      if (source.live == nullptr || source.live->peer().known) continue;
      log::warn("source {} ({}): waiting for its first data for {:.1f} s", source.id.value, source.live->name(),
                std::chrono::duration<double>(waited).count());
    }
  }

 private:
  /// Each rank names its own.
  void say(const std::vector<LocalSource>& local, const Readiness& all) {
    said_ = all.known;
    std::string names;
    std::size_t n = 0;
    for (const auto& source : local) {
      if (source.live == nullptr || source.live->peer().known) continue;
      if (++n <= kMostNamed) names += (n == 1 ? "" : ", ") + source.live->name();
    }
    if (n == 0) return;
    if (n > kMostNamed) names += fmt::format(" and {} more", n - kMostNamed);
    log::info("waiting for {} ({} of {} heard)", names, all.known, all.live);
  }

  nanoseconds first_;
  std::optional<std::size_t> said_;  ///< number of known sources when the wait was last reported
  nanoseconds reported_{};
  steady_clock::time_point begin_ = steady_clock::now();
};

/// Determines when to stop waiting for sources that are not known.
class SetupEnd {
 public:
  /// `decides`: this rank keeps the time for all.
  SetupEnd(const SourceSettings& settings, bool decides)
      : timeout_(decides ? settings.epoch_timeout : nanoseconds{}),
        duration_(decides ? settings.duration : nanoseconds{}) {}

  /// Call when the first data of any source are known.
  void heard() { heard_ = heard_.value_or(steady_clock::now()); }

  void look(Readiness& mine, bool asked_to_end) {
    const auto now = steady_clock::now();
    if (stop_signal() != 0 || asked_to_end) stopped_ = stopped_.value_or(now);
    mine.stopped = stopped_ && now - *stopped_ >= kLastCall;
    mine.give_up = mine.stopped || (heard_ && timeout_.count() > 0 && now - *heard_ >= timeout_);
    mine.time_over = duration_.count() > 0 && now - begin_ >= duration_;
  }

 private:
  nanoseconds timeout_;
  nanoseconds duration_;
  steady_clock::time_point begin_ = steady_clock::now();
  std::optional<steady_clock::time_point> heard_;
  std::optional<steady_clock::time_point> stopped_;
};

/// Extent of recordings, and the clock in which gaps are measured.
struct Extent {
  Epoch first = std::numeric_limits<Epoch>::max();
  Epoch end = 0;
  TimeBase base{0, 0};
};

Extent extent_of(const std::vector<LocalSource>& local) {
  Extent extent;
  for (const auto& source : local) {
    const auto first = source.stream->first_epoch();
    const auto end = source.stream->end_epoch();
    if (source.live != nullptr) {
      throw UserError("'" + source.stream->name() +
                      "' is live: --loop is for recordings; 'eventloom send' has one too");
    }
    if (!end) {
      throw UserError("'" + source.stream->name() +
                      "' does not state its end before it is read: convert it to .epochs with 'eventloom convert' to "
                      "--loop it");
    }
    extent.base = source.stream->header().base;
    if (!first) continue;
    extent.first = std::min(extent.first, *first);
    extent.end = std::max(extent.end, *end);
  }
  return extent;
}

Extent of_all(const Extent& mine, const Collective& ranks) {
  Extent all;
  for (const auto& one : ranks.all_gather(mine)) {
    all.first = std::min(all.first, one.first);
    all.end = std::max(all.end, one.end);
    if (one.base.tick_ps != 0) all.base = one.base;
  }
  return all;
}

}  // namespace

std::vector<LocalSource> open_local_sources(const SourceSettings& settings, const std::vector<SourceSpec>& specs,
                                            const Roles& roles, int rank) {
  const Activity activity("opening the sources");
  std::vector<LocalSource> local;
  SourceOpener opener(settings.time_base, settings.live, settings.shelf);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const SourceId id{static_cast<std::uint16_t>(s)};
    if (roles.rank_of(id) != rank) continue;
    auto opened = opener.open(specs[s], id);
    // Only an opened stream shows whether a copy of another source's file has any data.
    if (!specs[s].copy.empty() && opened.stream->first_epoch()) throw UserError(specs[s].copy);
    local.push_back({id, std::move(opened.stream), opened.live});
  }
  return local;
}

void keep_feeds(const SourceSettings& settings, const std::vector<SourceSpec>& specs, const Roles& roles, int rank,
                FeedsKept which) {
  const Activity activity("opening the sources");
  SourceOpener opener(settings.time_base, settings.live);
  std::optional<UserError> failure;
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const SourceId id{static_cast<std::uint16_t>(s)};
    if (roles.rank_of(id) != rank || (which == FeedsKept::of_peers && is_followed(specs[s].uri))) continue;
    try {
      settings.shelf->keep(id, [&] { return opener.open_feed(specs[s], id); });
    } catch (const UserError& error) {
      if (!failure) failure = error;
    }
  }
  if (failure) throw UserError(*failure);
}

bool wait_for_live(std::vector<LocalSource>& local, const SourceSettings& settings, const Collective& ranks,
                   LiveWait& watch) {
  const Activity activity("waiting for live sources");
  SetupPatience waiting(settings.stall_warning);
  SetupEnd end(settings, ranks.rank() == 0);
  Readiness all;
  for (;;) {
    watch.wait(all.live, all.known);
    auto mine = look(local, watch);
    end.look(mine, watch.waits_no_longer());
    all = of_all(mine, ranks);
    if (all.known == all.live || all.give_up || all.time_over) break;
    if (all.heard != 0) end.heard();
    waiting.report(local, all);
    std::this_thread::sleep_for(kSourceLook);
  }
  if (all.stopped || all.time_over) drain_unknown(local);
  agree(ranks, [&] {
    for (auto& source : local) {
      if (source.live != nullptr) source.live->fix_header();
    }
  });
  return !all.time_over;
}

void loop_recordings(std::vector<LocalSource>& local, const std::vector<SourceSpec>& specs,
                     const SourceSettings& settings, const BuildingSettings& building, const Collective& ranks) {
  if (settings.loops == 1) return;
  Extent mine;
  agree(ranks, [&] { mine = extent_of(local); });
  const auto all = of_all(mine, ranks);
  if (all.end <= all.first) return;  // no data
  agree(ranks, [&] {
    const auto& detector = building.detector;
    const Tick shifted = 2 * largest_offset(detector.map, all.base.tick_ps) +
                         longest_dead_time(detector.map, detector.dead_times, all.base.tick_ps);
    const Epoch apart = epoch_of(shifted, all.base.epoch_ticks) + 1;
    const Epoch gap =
        interpret(building, {.base = all.base}, named_groups(building.detector)).geometry.margin_epochs() + apart;
    const Epoch period = loop_period(all.first, all.end, gap);
    for (auto& source : local) {
      const auto& spec = specs[source.id.value];
      const auto open = [spec, id = source.id, base = settings.time_base] { return open_source(spec, id, base); };
      source.stream = std::make_unique<LoopedSource>(open, settings.loops, period);
    }
  });
}

}  // namespace eventloom
