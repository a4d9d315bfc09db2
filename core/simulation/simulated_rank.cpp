#include "core/simulation/simulated_rank.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace eventloom {

namespace {

/// Clocks never show 0, which some code takes as "never".
constexpr double kFirstReading = 1;

class SimulatedWindow final : public Transport {
 public:
  SimulatedWindow(Port& port, std::uint64_t bytes) : port_(port), number_(port.open_window(bytes)) {}
  [[nodiscard]] std::span<std::byte> window() override { return port_.window(number_); }
  [[nodiscard]] std::optional<std::span<const std::uint64_t>> written_since(std::uint64_t& mark) override {
    return port_.written_since(number_, mark);
  }
  [[nodiscard]] bool is_near(int rank) const override { return port_.is_near(rank); }
  void progress() override {}
  void sync() override {}

 private:
  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override {
    port_.put(number_, rank, offset, data);
  }
  void start_notice(int rank, std::uint64_t offset, std::span<const std::byte> data) override {
    port_.put_notice(number_, rank, offset, data);
  }
  void complete_puts(int rank) override { port_.flush(number_, rank); }

  Port& port_;
  std::size_t number_;
};

class SimulatedChannel final : public MessageChannel {
 public:
  explicit SimulatedChannel(Port& port) : port_(port), number_(port.open_channel()) {}
  void send(int to, std::span<const std::byte> data) override { port_.send(number_, to, data); }
  std::optional<int> receive(std::vector<std::byte>& out) override { return port_.receive(number_, out); }
  void progress() override {}

 private:
  Port& port_;
  std::size_t number_;
};

class SimulatedBarrier final : public PendingBarrier {
 public:
  SimulatedBarrier(const MeetingPlace& place, Port& port, std::uint64_t number)
      : place_(place), port_(port), number_(number) {}
  bool done() override {
    if (std::ranges::all_of(place_.barriers, [this](auto begun) { return begun >= number_; })) return true;
    port_.wait_until(Port::now(), Spent::idle);
    return false;
  }

 private:
  const MeetingPlace& place_;
  Port& port_;
  std::uint64_t number_;
};

}  // namespace

SteadyTime RankClock::at(double time) const {
  const double seconds = kFirstReading + offset + time * (1 + drift);
  return SteadyTime(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

double RankClock::when(SteadyTime reading) const {
  if (reading == SteadyTime::max()) return std::numeric_limits<double>::infinity();
  const std::chrono::duration<double> seconds = reading.time_since_epoch();
  return (seconds.count() - kFirstReading - offset) / (1 + drift);
}

std::unique_ptr<Transport> SimulatedRank::open_window(std::uint64_t bytes) {
  auto window = std::make_unique<SimulatedWindow>(port_, bytes);
  place_.meet();
  return window;
}

std::unique_ptr<MessageChannel> SimulatedRank::open_channel() {
  auto channel = std::make_unique<SimulatedChannel>(port_);
  place_.meet();
  return channel;
}

void SimulatedRank::end_program() { throw std::logic_error("a simulated rank ends the program"); }

void SimulatedRank::wait_until(SteadyTime due) {
  port_.wait_until(clock_.when(due), reason_ ? reason_() : Spent::idle);
}

std::unique_ptr<PendingBarrier> SimulatedRank::barrier() const {
  const auto number = ++place_.barriers[static_cast<std::size_t>(rank_)];
  return std::make_unique<SimulatedBarrier>(place_, port_, number);
}

void SimulatedRank::say(std::span<const std::byte> mine) const {
  place_.says[static_cast<std::size_t>(rank_)] = mine;
  place_.meet();
}

void SimulatedRank::gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                                 std::span<std::byte> all) const {
  say(mine);
  std::size_t at = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    if (place_.says[r].size() != bytes[r]) throw std::logic_error("a rank gathers another number of bytes");
    if (bytes[r] != 0) std::memcpy(all.data() + at, place_.says[r].data(), bytes[r]);
    at += bytes[r];
  }
  place_.meet();
}

void SimulatedRank::broadcast_bytes(std::span<std::byte> data) const {
  say(data);
  const auto from = place_.says[0];
  if (from.size() != data.size()) throw std::logic_error("a rank expects another number of bytes");
  if (rank_ != 0 && !data.empty()) std::memcpy(data.data(), from.data(), data.size());
  place_.meet();
}

}  // namespace eventloom
