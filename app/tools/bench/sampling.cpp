#include "app/tools/bench/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/document/json_message.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kRepeatEndNs = 1'000'000;

/// A sample begins with its planned time, or 0 in the last sample.
class Sampling {
 public:
  Sampling(const SamplingSettings& settings, CommonClock& clock, const Communicator& communicator)
      : settings_(settings),
        communicator_(communicator),
        clock_(clock),
        receiver_(receiver_of_samples(communicator)),
        sends_(communicator.rank() == 0),
        duplex_(make_duplex(settings.peer, communicator,
                            {.other = other(),
                             .largest = static_cast<std::uint32_t>(settings.values * sizeof(std::int64_t)),
                             .wait = settings.wait})),
        sample_(settings.values),
        result_(settings.kept) {}

  Sampled run() {
    meet(communicator_);
    const auto before = time_of(CLOCK_PROCESS_CPUTIME_ID);
    if (sends_) {
      send_all();
    } else if (communicator_.rank() == receiver_) {
      take_all();
    }
    const auto used = time_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    end();
    gather(in_seconds(used));
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<int> other() const {
    if (sends_) return receiver_;
    return communicator_.rank() == receiver_ ? std::optional(0) : std::nullopt;
  }

  void send_all() {
    const double period = 1e9 / static_cast<double>(settings_.hz);
    const auto steps = static_cast<std::uint64_t>(std::llround(settings_.seconds * 1e9 / period));
    result_.steps = std::max<std::uint64_t>(steps, 1);
    const std::int64_t start = clock_.now();
    // Computed from the start each time: a rounded period would accumulate an error.
    const auto planned = [&](std::uint64_t step) { return start + std::llround(static_cast<double>(step) * period); };
    for (std::uint64_t step = 1; step <= result_.steps; ++step) {
      if (!send_between(planned(step), planned(step + 1))) ++result_.missed;
    }
    sample_.front() = 0;
    while (!send_sample()) wait();
    if (receiver_ == 0) repeat_last([&] { return over_; });
  }

  /// Waits, and periodically resends the last sample if it may have been lost.
  template <class Done>
  void repeat_last(Done done) {
    for (std::int64_t sent = steady_ns(); !done(); wait()) {
      if (!duplex_->is_lossy() || steady_ns() - sent < kRepeatEndNs) continue;
      send_sample();
      sent = steady_ns();
    }
  }

  /// Sends the sample of one step; returns false if the next step is due before it can be sent.
  bool send_between(std::int64_t planned, std::int64_t next) {
    std::int64_t now = clock_.now();
    for (; now < planned; now = clock_.now()) wait();
    sample_.front() = planned;
    for (; now < next; now = clock_.now()) {
      if (send_sample()) return true;
      wait();
    }
    return false;
  }

  bool send_sample() { return duplex_->try_send(std::as_bytes(std::span(sample_))); }

  void wait() {
    if (receiver_ == 0) take();
    duplex_->pause();
  }

  void take_all() {
    while (!over_) {
      take();
      if (!over_) duplex_->pause();
    }
  }

  void take() {
    while (const auto message = duplex_->poll()) {
      std::int64_t planned = 0;
      std::memcpy(&planned, message->data(), sizeof planned);
      over_ = over_ || planned == 0;
      if (planned != 0) result_.latency.add(clock_.now() - planned);
      duplex_->release();
    }
  }

  /// All ranks meet.
  void end() {
    duplex_->flush();
    if (!sends_ || !duplex_->is_lossy()) return meet(communicator_);
    const auto barrier = communicator_.barrier();
    repeat_last([&] { return barrier->done(); });
  }

  void gather(double cpu_seconds) {
    const bool takes_part = sends_ || communicator_.rank() == receiver_;
    result_.cpu_seconds = communicator_.sum(takes_part ? cpu_seconds : 0.0);
    const auto packed = all_gather_json(communicator_, sends_ ? Json() : result_.latency.packed());
    if (sends_ && receiver_ != 0) result_.latency.unpack(packed[static_cast<std::size_t>(receiver_)]);
  }

  const SamplingSettings& settings_;
  const Communicator& communicator_;
  CommonClock& clock_;
  int receiver_;
  bool sends_;
  std::unique_ptr<Duplex> duplex_;
  std::vector<std::int64_t> sample_;
  bool over_ = false;
  Sampled result_;
};

}  // namespace

void Sampled::add(const Sampled& other) {
  steps += other.steps;
  missed += other.missed;
  latency.add(other.latency);
  cpu_seconds += other.cpu_seconds;
}

int receiver_of_samples(const Communicator& communicator) { return communicator.size() > 1 ? 1 : 0; }

Sampled sample(const SamplingSettings& settings, CommonClock& clock, const Communicator& communicator) {
  return Sampling(settings, clock, communicator).run();
}

}  // namespace eventloom
