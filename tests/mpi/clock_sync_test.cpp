// Each rank has a clock with its own offset (hours) and drift, derived from the steady clock that all ranks of one host
// share: the true time is therefore known, and ClockSync must find it within its stated precision. Exit code 0 if all
// checks pass. All ranks must run on one host.

#include "core/control/clock_sync.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/mpi/mpi_message_channel.hpp"
#include "core/runtime/clock.hpp"

namespace eventloom {
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
/// A bound in ns above which an uncertainty is useless. On crowded cores, round trips take milliseconds.
constexpr double kAbsurd = 100e6;

bool check(bool good, const char* what, double value, double limit) {
  if (!good) std::fprintf(stderr, "%s: %.1f, limit %.1f\n", what, value, limit);
  return good;
}

/// Each rank's clock is 50 ppm faster than that of the previous rank.
std::int64_t own_clock(int rank) {
  const std::int64_t steady = steady_ns();
  return steady + rank * kHour + rank * (steady / 20'000);
}

double own_rate_ppm(int rank) { return (1 / (1 + rank * 50e-6) - 1) * 1e6; }

class Run {
 public:
  Run(const Communicator& communicator, const ClockSync::Settings& settings)
      : communicator_(communicator),
        sync_(std::make_unique<MpiMessageChannel>(communicator), communicator.rank(), communicator.size(), settings,
              [rank = communicator.rank()] { return own_clock(rank); }) {}

  /// Batches take longer than the work between them: each collective call falls into the middle of one, on rank 0
  /// before and after the other ranks in turn.
  bool run_interrupted() {
    for (int i = 0; i < 6; ++i) {
      work((2 + (communicator_.rank() + i) % 2) * kMillisecond);
      synchronise();
    }
    work(2 * kMillisecond);
    sync_.stop(idle_);
    check_time();
    return good_;
  }

  /// Batches that may take no time: each ends with its first round trip.
  bool run_hurried() {
    sync_.synchronise(idle_);
    sync_.stop(idle_);
    const auto made = static_cast<double>(sync_.quality().round_trips);
    return check(communicator_.rank() == 0 || made == 1, "round trips in no time", made, 1);
  }

  bool run() {
    const bool alone = communicator_.size() == 1;
    good_ &= check(alone == std::isfinite(sync_.precision_ns()), "precision before", sync_.precision_ns(), 0);
    synchronise();
    const std::uint64_t before = sync_.quality().round_trips;
    work(300 * kMillisecond);
    sync_.stop(idle_);
    check_time();
    if (communicator_.rank() != 0) {
      const auto made = static_cast<double>(sync_.quality().round_trips - before);
      good_ &= check(made >= 1, "round trips after the first", made, 1);
    }
    check_qualities();
    good_ &= check(sync_.do_work(own_clock(communicator_.rank())) == 0, "messages after the end", 1, 0);
    return good_;
  }

 private:
  void synchronise() {
    sync_.synchronise(idle_);
    synchronised_ = true;
    check_time();
  }

  void work(std::int64_t duration) {
    const std::int64_t end = steady_ns() + duration;
    while (steady_ns() < end) {
      sync_.do_work(own_clock(communicator_.rank()));
      check_time();
      sched_yield();
    }
  }

  // The true time lies between two readings; the rank may have lost its core between them. A new model is adopted only
  // in do_work(), but if time then stands still, the previous precision still applies.
  void check_time() {
    // Before the first model, which may be adopted in do_work(), the time was this rank's own.
    if (!std::exchange(measured_, sync_.quality().round_trips != 0) && communicator_.rank() != 0) latest_ = 0;
    const std::int64_t before = steady_ns();
    const std::int64_t global = sync_.global_ns();
    const std::int64_t after = steady_ns();
    const double precision = sync_.precision_ns();
    const bool still = global == latest_;
    if (!still) precision_ = precision;
    const double limit = std::max(precision, precision_) + 2;
    const auto off = static_cast<double>(std::max({before - global, global - after, std::int64_t{0}}));
    good_ &= check(off <= limit, "error", off, limit);
    if (synchronised_) good_ &= check(precision < kAbsurd, "precision", precision, kAbsurd);
    good_ &= check(global >= latest_, "time went back", static_cast<double>(latest_ - global), 0);
    latest_ = global;
  }

  void check_qualities() {
    const auto all = sync_.qualities();
    const auto expected = communicator_.rank() == 0 ? static_cast<std::size_t>(communicator_.size()) : 0;
    good_ &= check(all.size() == expected, "qualities", static_cast<double>(all.size()), static_cast<double>(expected));
    for (std::size_t r = 0; r < all.size(); ++r) {
      const auto& q = all[r];
      std::printf("rank %zu: offset %.0f ns, rate %.3f ppm +- %.3f, residual %.0f ns, precision %.0f ns, %llu trips\n",
                  r, q.offset_ns, q.rate_ppm, q.rate_error_ppm, q.residual_ns, q.precision_ns,
                  static_cast<unsigned long long>(q.round_trips));
      const double off = std::abs(q.rate_ppm - own_rate_ppm(static_cast<int>(r)));
      good_ &= check(off <= q.rate_error_ppm, "rate error", off, q.rate_error_ppm);
      good_ &= check(q.precision_ns <= kAbsurd, "precision", q.precision_ns, kAbsurd);
    }
  }

  const Communicator& communicator_;
  Idle idle_;
  ClockSync sync_;
  std::int64_t latest_ = 0;
  double precision_ = 0;  ///< when time last advanced
  bool measured_ = false;
  bool synchronised_ = false;
  bool good_ = true;
};

/// The size and content of the n-th message between two ranks: some small, some too large for a transport to accept at
/// once.
std::vector<std::byte> content(int from, int to, std::uint32_t n) {
  std::mt19937 random(n * 10'007 + static_cast<std::uint32_t>(from) * 101 + static_cast<std::uint32_t>(to));
  constexpr std::size_t kSizes[] = {0, 1, 100, 5000, 300'000};
  std::vector<std::byte> bytes(kSizes[random() % std::size(kSizes)]);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// All ranks send to all, themselves included, all at once, and only then receive.
bool check_channel(const Communicator& communicator) {
  constexpr std::uint32_t kMessages = 30;
  const auto ranks = static_cast<std::uint32_t>(communicator.size());
  MpiMessageChannel channel(communicator);
  for (std::uint32_t n = 0; n < kMessages; ++n) {
    for (int to = 0; to < communicator.size(); ++to) channel.send(to, content(communicator.rank(), to, n));
  }
  std::vector<std::uint32_t> next(ranks);
  std::vector<std::byte> bytes;
  bool good = true;
  for (std::uint32_t received = 0; received < kMessages * ranks;) {
    channel.progress();
    if (const auto from = channel.receive(bytes)) {
      const std::uint32_t n = next[static_cast<std::size_t>(*from)]++;
      good &= check(bytes == content(*from, communicator.rank(), n), "message of the channel", n, kMessages);
      ++received;
    } else {
      sched_yield();
    }
  }
  return good;
}

}  // namespace
}  // namespace eventloom

int main() {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  bool good = eventloom::check_channel(communicator);
  constexpr std::int64_t kMillisecond = eventloom::kMillisecond;
  good &= eventloom::Run(communicator, {.interval_ns = 20 * kMillisecond}).run();
  good &= eventloom::Run(communicator, {.batch_round_trips = 100'000, .interval_ns = kMillisecond}).run_interrupted();
  good &= eventloom::Run(communicator, {.longest_batch_ns = 0}).run_hurried();
  return good ? 0 : 1;
}
