#include "app/run/run_sources.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <thread>

#include "app/mpi_command.hpp"
#include "app/run/run_detector.hpp"
#include "core/dataflow/live_stream.hpp"
#include "core/detector/resolve_detector.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/recorded/looped_source.hpp"

namespace eventloom {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(2);
constexpr auto kDrainAtSetup = std::chrono::seconds(1);

/// State of the live sources of a rank, or of all.
struct Readiness {
  std::size_t live = 0;
  std::size_t known = 0;  ///< with final header and first epoch
  std::size_t heard = 0;  ///< with data
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

Readiness look(const std::vector<SourceRole::LocalSource>& local) {
  Readiness ready;
  for (const auto& source : local) {
    if (source.live == nullptr) continue;
    source.live->receive();
    ++ready.live;
    ready.known += source.live->peer().known ? 1 : 0;
    ready.heard += source.live->first_epoch() ? 1 : 0;
  }
  return ready;
}

Readiness of_all(const Readiness& mine, const Communicator& communicator) {
  std::ostringstream text;
  text << mine.live << ' ' << mine.known << ' ' << mine.heard << ' ' << mine.give_up << ' ' << mine.time_over << ' '
       << mine.stopped;
  Readiness all;
  for (const auto& told : communicator.all_gather(text.str())) {
    Readiness one;
    std::istringstream(told) >> one.live >> one.known >> one.heard >> one.give_up >> one.time_over >> one.stopped;
    all.add(one);
  }
  return all;
}

/// The run ends before it has begun: it consists of the data received so far.
void drain(const std::vector<SourceRole::LocalSource>& local) {
  std::size_t open = 0;
  for (const auto& source : local) {
    if (source.live != nullptr) source.live->finish();
  }
  const auto longest = steady_clock::now() + kDrainAtSetup;
  do {
    open = 0;
    for (const auto& source : local) {
      if (source.live == nullptr || source.live->progress().drained) continue;
      source.live->receive();
      ++open;
    }
    if (open != 0) std::this_thread::sleep_for(kLook);
  } while (open != 0 && steady_clock::now() < longest);
}

/// Names the sources waited for, again each time the wait has doubled.
class SetupPatience {
 public:
  explicit SetupPatience(nanoseconds first) : first_(first) {}

  void tell(const std::vector<SourceRole::LocalSource>& local) {
    const nanoseconds waited = steady_clock::now() - begin_;
    if (first_.count() == 0 || waited < std::max(first_, 2 * told_)) return;
    told_ = waited;
    for (const auto& source : local) {
      if (source.live == nullptr || source.live->peer().known) continue;
      spdlog::warn("source {} ({}): waiting for its first data for {:.1f} s", source.id.value, source.live->name(),
                   std::chrono::duration<double>(waited).count());
    }
  }

 private:
  nanoseconds first_;
  nanoseconds told_{};
  steady_clock::time_point begin_ = steady_clock::now();
};

/// Extent of recordings, and the clock in which gaps are counted.
struct Extent {
  Epoch first = std::numeric_limits<Epoch>::max();
  Epoch end = 0;
  TimeBase base{0, 0};
};

Extent extent_of(const std::vector<SourceRole::LocalSource>& local) {
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

Extent of_all(const Extent& mine, const Communicator& communicator) {
  std::ostringstream text;
  text << mine.first << ' ' << mine.end << ' ' << mine.base.tick_ps << ' ' << mine.base.epoch_ticks;
  Extent all;
  for (const auto& told : communicator.all_gather(text.str())) {
    Extent one;
    std::istringstream(told) >> one.first >> one.end >> one.base.tick_ps >> one.base.epoch_ticks;
    all.first = std::min(all.first, one.first);
    all.end = std::max(all.end, one.end);
    if (one.base.tick_ps != 0) all.base = one.base;
  }
  return all;
}

}  // namespace

std::vector<SourceRole::LocalSource> open_local_sources(const RunConfig& config, const std::vector<SourceSpec>& specs,
                                                        const Roles& roles, int rank) {
  const Activity activity("opening the sources");
  std::vector<SourceRole::LocalSource> local;
  SourceOpener opener(config.time_base, config.live);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const SourceId id{static_cast<std::uint16_t>(s)};
    if (roles.rank_of(id) != rank) continue;
    auto opened = opener.open(specs[s], id);
    local.push_back({id, std::move(opened.stream), opened.live});
  }
  return local;
}

bool wait_for_live(std::vector<SourceRole::LocalSource>& local, const RunConfig& config,
                   const Communicator& communicator, const std::function<void()>& each_turn) {
  const Activity activity("waiting for live sources");
  SetupPatience waiting(config.stall_warning);
  const auto begin = steady_clock::now();
  std::optional<steady_clock::time_point> heard;
  Readiness all;
  for (;;) {
    each_turn();
    auto mine = look(local);
    const auto now = steady_clock::now();
    const bool overdue = heard && config.epoch_timeout.count() > 0 && now - *heard >= config.epoch_timeout;
    mine.stopped = stop_signal() != 0;
    mine.give_up = mine.stopped || (communicator.rank() == 0 && overdue);
    mine.time_over = communicator.rank() == 0 && config.duration.count() > 0 && now - begin >= config.duration;
    all = of_all(mine, communicator);
    if (all.known == all.live || all.give_up || all.time_over) break;
    if (all.heard != 0 && !heard) heard = now;
    waiting.tell(local);
    std::this_thread::sleep_for(kLook);
  }
  if (all.stopped || all.time_over) drain(local);
  agree(communicator, [&] {
    for (auto& source : local) {
      if (source.live != nullptr) source.live->fix_header();
    }
  });
  return !all.time_over;
}

void loop_recordings(std::vector<SourceRole::LocalSource>& local, const std::vector<SourceSpec>& specs,
                     const RunConfig& config, const Communicator& communicator) {
  if (config.loops == 1) return;
  Extent mine;
  agree(communicator, [&] { mine = extent_of(local); });
  const auto all = of_all(mine, communicator);
  if (all.end <= all.first) return;  // there is nothing in them
  agree(communicator, [&] {
    const Epoch apart = 2 * largest_offset(config.detector, all.base.tick_ps) / all.base.epoch_ticks + 1;
    const Epoch gap = interpret(config, all.base, named_groups(config)).geometry.margin_epochs() + apart;
    const Epoch period = loop_period(all.first, all.end, gap);
    for (auto& source : local) {
      const auto& spec = specs[source.id.value];
      const auto open = [spec, id = source.id, base = config.time_base] { return open_source(spec, id, base); };
      source.stream = std::make_unique<LoopedSource>(open, config.loops, period);
    }
  });
}

}  // namespace eventloom
