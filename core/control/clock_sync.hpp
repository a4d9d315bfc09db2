#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/control/clock_fit.hpp"
#include "core/control/message_channel.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/idle.hpp"

namespace eventloom {

/// A common time for all ranks: that of rank 0's clock. Rank 0 requests the time of the other ranks, fits their
/// clocks to its own, and sends them the model for conversion. All times are in ns. Not thread-safe. Throws
/// std::runtime_error if the ranks cannot reach each other.
class ClockSync {
 public:
  using Clock = std::function<std::int64_t()>;
  struct Settings {
    int round_trips = 100;                     ///< per rank in synchronise(); at least 1
    int batch_round_trips = 20;                ///< per rank in later batches; at least 1
    std::int64_t interval_ns = 1'000'000'000;  ///< between batches; shorter at first, while rates are unknown
    /// A batch that has taken this long ends after the current round trip, so that it delays no rank on crowded cores.
    std::int64_t longest_batch_ns = 100'000'000;
    /// On rank 0: receives every round trip with the rank that answered. May be empty.
    std::function<void(int rank, const RoundTrip& trip)> heard = {};
  };

  /// `channel`: this rank's, used only for the clocks; the run has `size` ranks. `clock`: this rank's; monotonic,
  /// read for every message.
  ClockSync(std::unique_ptr<MessageChannel> channel, int rank, int size, Settings settings, Clock clock = steady_ns);
  /// Collective, like the channel's destruction. Call stop() first; otherwise, as after an exception, a message may
  /// remain.
  ~ClockSync() = default;
  ClockSync(const ClockSync&) = delete;
  ClockSync& operator=(const ClockSync&) = delete;

  /// Collective. Blocks until rank 0 has measured all ranks, one after the other; waits on `idle`. Must not follow
  /// stop().
  void synchronise(IdlePolicy& idle);
  /// Never blocks. Each rank must call it often: rank 0 starts the batches that are due, the others answer and adopt
  /// new models. The less often it is called, the longer the round trips. `now`: a recent reading of the clock, used
  /// only to find due batches. Returns the number of messages handled.
  std::size_t do_work(std::int64_t now);
  /// Collective: ends the batches and receives all messages. Blocks until both rank 0 and this rank have called it, and
  /// on rank 0 until every rank that owes an answer has. The last model stays valid.
  void stop(IdlePolicy& idle);

  /// The time on rank 0's clock; before the first model, on this rank's own. Monotonic from the first model on: if a
  /// new model is behind its predecessor, the time stands still until the new one has caught up, with the predecessor's
  /// precision.
  [[nodiscard]] std::int64_t global_ns();
  /// Bound on the error of global_ns() on the worst rank, as of the last model from rank 0; grows when the next is
  /// overdue. Infinite until all ranks have been measured.
  [[nodiscard]] double precision_ns() const;
  /// Converts this rank's clock to rank 0's, as of the last model; the identity before the first, and on rank 0.
  [[nodiscard]] const ClockModel& model() const { return model_; }
  /// Clock quality of this rank, as of its last model. Rank 0's is exact.
  [[nodiscard]] const ClockQuality& quality() const { return quality_; }
  /// On rank 0: clock quality of all ranks, by rank. Empty on the others.
  [[nodiscard]] std::vector<ClockQuality> qualities() const;

 private:
  /// State of another rank, kept by rank 0.
  struct Peer {
    ClockFit fit;
    ClockQuality quality = fit.quality(0);
    int left = 0;  ///< round trips of the batch not yet begun
    bool asked = false;
    std::int64_t sent = 0;              ///< time of the request
    std::optional<std::int64_t> first;  ///< start of the first batch
    std::int64_t begun = 0;             ///< start of the last batch
    std::int64_t took = 0;
    std::int64_t next = std::numeric_limits<std::int64_t>::min();
    std::int64_t until = 0;  ///< when the next model should have arrived
  };

  [[nodiscard]] bool leads() const { return rank_ == 0; }
  void send(int to, const ClockMessage& message);
  std::size_t handle_messages();
  void handle(int from, const ClockMessage& message, std::int64_t received);
  template <typename Condition>
  void work_until(IdlePolicy& idle, Condition condition);

  // Rank 0 only.
  [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  void start_batch(int rank, int round_trips);
  void start_due_batches(std::int64_t now);
  void ask(int rank);
  void take_answer(int rank, std::int64_t remote, std::int64_t received);
  void plan(Peer& peer, std::int64_t now);
  void find_worst();
  void send_fit(int rank);
  void finish_batches(IdlePolicy& idle);
  void report_done();

  // Other ranks only.
  void follow(IdlePolicy& idle);

  std::unique_ptr<MessageChannel> channel_;
  int rank_;
  int ranks_;
  Settings settings_;
  Clock clock_;
  std::vector<std::byte> buffer_;
  ClockModel model_;
  ClockQuality quality_;
  ClockBound worst_;
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::min();  ///< last value returned by global_ns()
  std::int64_t next_look_ = std::numeric_limits<std::int64_t>::min();
  std::vector<Peer> peers_;  ///< indexed by rank; only on rank 0
  int done_ = 0;             ///< done messages that no follow() has consumed yet
  bool stopped_ = false;
};

}  // namespace eventloom
