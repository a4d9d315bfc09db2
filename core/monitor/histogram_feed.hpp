#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/control/message_channel.hpp"
#include "core/dataflow/histogram_set.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/network.hpp"
#include "formats/event.hpp"
#include "formats/telemetry_wire.hpp"

namespace eventloom {

/// Brings to rank 0 all writers' counts in the histograms that clients request, while the run fills them
/// (formats/telemetry_wire.hpp). Each kind of events has the histograms of the set, numbered kind by kind. Without such
/// requests it sends no message. Ranks report added entries, and rank 0 keeps one sum for all ranks. A large histogram
/// comes in pieces. Never blocks before finish(). Not thread-safe.
class HistogramFeed {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Adds the counts so far of this rank's writers to `cells`: those of a histogram from cell `begin` on.
  using Counting = std::function<void(std::size_t histogram, std::size_t begin, std::span<std::uint64_t> cells)>;

  /// Construction and destruction are collective. `set`: never null; `kinds`: number of kinds of events; `writers`: the
  /// ranks with writers, ascending, the same on all ranks; `count` is called on these.
  HistogramFeed(Network& network, std::shared_ptr<const HistogramSet> set, std::size_t kinds, std::vector<int> writers,
                Counting count);

  /// Rank 0: a client requests a histogram. It is brought up to date about once a second, large ones more rarely, until
  /// five seconds after the last call.
  void want(std::size_t histogram, Time now);
  /// On every rank, in the same round of the heartbeat: what has been counted so far is no longer part of the sums,
  /// which begin again from zero.
  void reset();
  /// How often.
  [[nodiscard]] std::uint32_t resets() const { return resets_; }
  /// Call every turn. Throws std::runtime_error if a message is invalid.
  void do_work(Time now);
  /// Collective: after the event loop. Brings the histograms that were looked at in the last minute up to date.
  void finish(Time now, IdlePolicy& idle);

  /// Rank 0: a histogram that has been brought up to date since it was last returned, if there is one.
  [[nodiscard]] std::optional<std::size_t> take_complete();
  /// Rank 0: the sums over all ranks, as they were when the histogram was last brought up to date, or in between.
  [[nodiscard]] std::span<const std::uint64_t> cells(std::size_t histogram) const { return sums_[histogram].cells; }
  /// Total size of all messages that this rank has received.
  [[nodiscard]] std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  struct Sum {
    std::optional<Time> wanted;  ///< time of the last request
    Time next{};                 ///< when it may be brought up to date again
    std::vector<std::uint64_t> cells;
  };
  /// One histogram is brought up to date at a time.
  struct Sweep {
    std::size_t histogram = 0;
    std::size_t begun = 0;  ///< writers that have been asked, in their order
    std::size_t left = 0;   ///< writers whose answers are incomplete
  };

  [[nodiscard]] std::size_t cells_in(std::size_t histogram) const {
    return set_->cells_in(histogram % set_->specs().size());
  }
  void begin_sweep(std::size_t histogram, Time now);
  void begin_next_sweep(Time now);
  bool receive();
  void ask(int rank, std::size_t begin);
  void answer(const CellsHead& asked);
  void add(int rank, const CellsHead& reported, std::span<const std::byte> rows);
  void send(int rank, const CellsHead& head, std::span<const FilledCell> rows = {});
  void complete_recent(Time now, IdlePolicy& idle);

  std::shared_ptr<const HistogramSet> set_;
  std::vector<int> writers_;
  Counting count_;
  int rank_;
  std::size_t most_rows_;  ///< maximum per message
  std::unique_ptr<MessageChannel> channel_;
  std::vector<Sum> sums_;                             ///< indexed by histogram; empty on other ranks
  std::vector<std::vector<std::uint64_t>> reported_;  ///< indexed by histogram: entries already reported; empty: none
  std::uint32_t resets_ = 0;
  std::optional<Sweep> sweep_;
  std::vector<std::size_t> complete_;
  Time next_look_{};
  std::uint64_t bytes_received_ = 0;
  bool done_ = false;  ///< rank 0 asks this rank no more
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> counted_;
  std::vector<FilledCell> rows_;
};

}  // namespace eventloom
