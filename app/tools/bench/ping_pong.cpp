#include "app/tools/bench/ping_pong.hpp"

#include <cstring>
#include <thread>

#include "core/control/agreement.hpp"
#include "core/runtime/clock.hpp"

namespace eventloom {

namespace {

class PingPong {
 public:
  PingPong(const PingPongSettings& settings, std::span<const std::byte> message, FarEnd& far, CommonClock& clock,
           const Communicator& communicator)
      : settings_(settings),
        message_(message),
        far_(far),
        clock_(clock),
        communicator_(communicator),
        near_(communicator.rank() == 0),
        echoes_(communicator.rank() == settings.echo),
        duplex_(make_duplex(
            settings.peer, communicator,
            {.other = other(), .largest = static_cast<std::uint32_t>(message.size()), .wait = settings.wait})),
        times_(settings.kept) {}

  PingPongTimes run() {
    meet(communicator_);
    rounds(settings_.warm_up, [&] { ping(times_.warm_up, nullptr); });
    const auto before = time_of(CLOCK_PROCESS_CPUTIME_ID);
    rounds(settings_.count, [&] {
      rest();
      ping(times_.round_trip, &times_.one_way);
    });
    const auto used = time_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    meet(communicator_);  // other ranks yield their cores meanwhile
    times_.cpu_seconds = communicator_.sum(near_ || echoes_ ? in_seconds(used) : 0.0);
    times_.messages = 2 * settings_.count;
    measure_completion();
    duplex_->flush();
    meet(communicator_);
    return std::move(times_);
  }

 private:
  [[nodiscard]] std::optional<int> other() const {
    if (near_) return settings_.echo;
    return echoes_ ? std::optional(0) : std::nullopt;
  }

  template <class Near>
  void rounds(std::uint64_t count, Near near) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (near_) {
        near();
      } else if (echoes_) {
        answer();
      }
    }
  }

  void rest() const {
    if (settings_.pause.count() != 0) std::this_thread::sleep_for(settings_.pause);
  }

  void ping(MeasuredTimes& round_trip, MeasuredTimes* one_way) {
    const std::int64_t start = clock_.now();
    duplex_->send(message_);
    const std::int64_t arrived = take_reply();
    round_trip.add(clock_.now() - start);
    if (one_way != nullptr) one_way->add(arrived - start);
  }

  /// Returns the time at which the far end had processed the message.
  std::int64_t take_reply() {
    if (echoes_) answer();
    const auto reply = duplex_->receive();
    std::int64_t arrived = 0;
    std::memcpy(&arrived, reply.data(), sizeof arrived);
    duplex_->release();
    return arrived;
  }

  void answer() {
    const auto message = duplex_->receive();
    far_.take(message);
    const std::int64_t arrived = clock_.now();
    reply_.assign(message.begin(), message.end());
    std::memcpy(reply_.data(), &arrived, sizeof arrived);
    duplex_->release();
    duplex_->send(reply_);
  }

  /// Round trips that wait for completion before the answer. The first shows whether the peer supports it.
  void measure_completion() {
    const bool known = communicator_.broadcast(near_ && duplex_->send_complete(message_));
    if (!known) return;
    if (near_) {
      take_reply();
    } else if (echoes_) {
      answer();
    }
    rounds(settings_.count, [&] {
      rest();
      const std::int64_t start = clock_.now();
      duplex_->send_complete(message_);
      times_.completion.add(clock_.now() - start);
      take_reply();
    });
  }

  const PingPongSettings& settings_;
  std::span<const std::byte> message_;
  FarEnd& far_;
  CommonClock& clock_;
  const Communicator& communicator_;
  bool near_;
  bool echoes_;
  std::unique_ptr<Duplex> duplex_;
  std::vector<std::byte> reply_;
  PingPongTimes times_;
};

}  // namespace

PingPongTimes ping_pong(const PingPongSettings& settings, std::span<const std::byte> message, FarEnd& far,
                        CommonClock& clock, const Communicator& communicator) {
  return PingPong(settings, message, far, clock, communicator).run();
}

}  // namespace eventloom
