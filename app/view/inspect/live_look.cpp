#include "app/view/inspect/live_look.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/command/command_line.hpp"
#include "app/command/safe_text.hpp"
#include "app/view/inspect/shown_events.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/epochs/stored_hits.hpp"
#include "io/live/live_feed.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kNap = std::chrono::milliseconds(1);
constexpr auto kLongestDrain = std::chrono::seconds(1);
constexpr auto kBetweenRates = std::chrono::seconds(1);

/// Totals received from a source so far.
struct Received {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;  ///< hits lost
};

/// A source that is being watched.
class Watched {
 public:
  Watched(std::unique_ptr<LiveFeed> feed, ShownEvents events) : feed_(std::move(feed)), events_(std::move(events)) {
    feed_->begin_at(0);
  }

  [[nodiscard]] std::string name() const { return for_terminal(feed_->name()); }
  [[nodiscard]] const ShownEvents& events() const { return events_; }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Data already received are still taken.
  void stop() { feed_->stop(); }

  /// Takes the data that have arrived; returns false if there are none. Stops showing events once `enough()` is true.
  template <class Enough>
  bool take(Enough enough) {
    batch_.clear();
    feed_->take(batch_);
    for (const auto& damage : batch_.damage) lost_ += damage.n_hits;
    damaged_ = damaged_ || !batch_.damage.empty();
    take_buffers(enough);
    ended_ = batch_.ended;
    return !batch_.buffers.empty() || !batch_.damage.empty();
  }

  [[nodiscard]] Received received() const {
    const auto counts = feed_->counts();
    const auto& counters = counts.counters;
    return {events_.events(), events_.hits(), counters[Metric::bytes] + counters[Metric::mbs_bytes], lost_};
  }
  [[nodiscard]] bool has_losses() const { return damaged_ || feed_->counts().counters.any_trouble(); }
  [[nodiscard]] CountsByName counts() const {
    auto counts = feed_->counts();
    add_other_markers_of_source(counts.counters, others_);
    return counts.by_name();
  }

 private:
  template <class Enough>
  void take_buffers(Enough enough) {
    if (batch_.buffers.empty()) return;
    if (!header_) {
      header_ = feed_->fix_header();
      events_.begin(*header_);
    }
    auto rest = std::span<const std::byte>(batch_.buffers);
    while (!rest.empty() && !enough()) {
      const auto header = read_epoch_buffer_header(rest);
      take_buffer(*header, rest.first(header->stored_bytes()), enough);
      rest = rest.subspan(header->stored_bytes());
    }
  }

  template <class Enough>
  void take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, Enough enough) {
    const auto defect = read_stored_hits(header, stored, *header_, others_, [&](Tick time, auto channel, auto payload) {
      if (!enough()) events_.add(time, channel, payload);
    });
    // An epoch never spans two buffers.
    if (!enough()) events_.complete();
    if (!defect) return;
    damaged_ = true;
    lost_ += header.n_hits;
  }

  std::unique_ptr<LiveFeed> feed_;
  ShownEvents events_;
  FeedBatch batch_;
  std::optional<StreamHeader> header_;
  std::uint64_t lost_ = 0;
  MarkerCounts others_;
  bool damaged_ = false;
  bool ended_ = false;
};

/// All sources of one command.
class Look {
 public:
  Look(std::span<const SourceSpec> specs, const LiveLook& look, const TimeBaseOptions& base, std::ostream& out)
      : look_(look), out_(out) {
    SourceOpener opener(base);
    for (std::size_t s = 0; s < specs.size(); ++s)
      watch(opener, specs[s], SourceId{static_cast<std::uint16_t>(s)}, specs.size() > 1);
  }

  int run() {
    while (stop_signal() == 0 && !over()) turn();
    for (auto& source : sources_) source.stop();
    // A source has counted all received data only once it has ended.
    for (const auto end = Clock::now() + kLongestDrain; !all_ended() && Clock::now() < end;) turn();
    return sum_up();
  }

 private:
  void watch(SourceOpener& opener, const SourceSpec& spec, SourceId id, bool one_of_many) {
    const bool numbered = holds_event_numbers(spec.uri);
    if (look_.only && !numbered) spec.uri.refuse("--find looks for event numbers, and its times are not event numbers");
    auto feed = opener.open_feed(spec, id);
    const ShownEvents::Style style{.numbered = numbered,
                                   .hex = look_.hex,
                                   .name = one_of_many ? for_terminal(feed->name()) : "",
                                   .only = look_.only};
    sources_.emplace_back(std::move(feed), ShownEvents(look_.rates ? nullptr : &out_, style));
    rated_.emplace_back();
  }

  /// Takes the data that have arrived; waits briefly if there are none.
  void turn() {
    bool any = false;
    for (auto& source : sources_) any = source.take([this] { return enough(); }) || any;
    if (look_.rates) show_rates(Clock::now());
    out_.flush();
    if (!any) std::this_thread::sleep_for(kNap);
  }

  [[nodiscard]] bool enough() const {
    if (look_.events == 0 && !look_.only) return false;  // all hits are requested
    std::uint64_t events = 0;
    for (const auto& source : sources_) events += source.events().events();
    const bool found = std::ranges::any_of(sources_, [](const auto& source) { return source.events().found(); });
    return found || (look_.events != 0 && events >= look_.events);
  }
  [[nodiscard]] bool all_ended() const { return std::ranges::all_of(sources_, &Watched::ended); }
  [[nodiscard]] bool over() const { return enough() || all_ended(); }

  void show_rates(Clock::time_point now) {
    const std::chrono::duration<double> since = now - rated_at_;
    if (since < kBetweenRates) return;
    rated_at_ = now;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const auto is = sources_[s].received();
      const auto was = std::exchange(rated_[s], is);
      const auto rate = [&](std::uint64_t Received::*what) {
        return static_cast<double>(is.*what - was.*what) / since.count();
      };
      out_ << fmt::format("{:>12.0f} events/s {:>12.0f} hits/s {:>9.3f} MB/s {:>8} lost  {}\n", rate(&Received::events),
                          rate(&Received::hits), rate(&Received::bytes) / 1e6, is.lost, sources_[s].name());
    }
  }

  /// Prints the totals of each source and its nonzero counters.
  int sum_up() {
    bool losses = false;
    for (auto& source : sources_) {
      const auto all = source.received();
      out_ << fmt::format("{}: {} events, {} hits, {} bytes, {} hits lost\n", source.name(), all.events, all.hits,
                          all.bytes, all.lost);
      for (const auto& [name, n] : source.counts()) {
        if (n != 0) out_ << fmt::format("  {:<28}{}\n", name, n);
      }
      losses = losses || source.has_losses();
    }
    if (look_.only && !std::ranges::any_of(sources_, [](const auto& source) { return source.events().found(); })) {
      throw UserError(fmt::format("--find: event {} was not received", look_.only->value));
    }
    return losses ? kExitLosses : kExitOk;
  }

  LiveLook look_;
  std::ostream& out_;
  std::vector<Watched> sources_;
  std::vector<Received> rated_;  ///< one per source: totals at the last line of rates
  Clock::time_point rated_at_ = Clock::now();
};

}  // namespace

int look_at_live(std::span<const SourceSpec> specs, const LiveLook& look, const TimeBaseOptions& base,
                 std::ostream& out) {
  catch_stop_signals();
  return Look(specs, look, base, out).run();
}

}  // namespace eventloom
