#include "simulated_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

namespace eventloom::test {

namespace {

/// A case that takes more does not end.
constexpr std::uint64_t kMostPasses = 3'000'000;
constexpr std::int64_t kLongestTurn = 3'000;
constexpr std::int64_t kFirstStep = 20'000;

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() != to.size()) throw std::logic_error("ranks do not say as much as the others expect");
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

/// A rank's window in a fabric that the simulation owns.
class SimulatedWindow final : public Transport {
 public:
  explicit SimulatedWindow(Transport& of) : of_(of) {}
  [[nodiscard]] std::span<std::byte> window() override { return of_.window(); }
  void put(int rank, std::uint64_t offset, std::span<const std::byte> data) override { of_.put(rank, offset, data); }
  void flush(int rank) override { of_.flush(rank); }
  void progress() override { of_.progress(); }
  void sync() override { of_.sync(); }

 private:
  Transport& of_;
};

class SimulatedBarrier final : public PendingBarrier {
 public:
  explicit SimulatedBarrier(std::function<bool()> all_here) : all_here_(std::move(all_here)) {}
  bool done() override { return all_here_(); }

 private:
  std::function<bool()> all_here_;
};

}  // namespace

/// Letters between two ranks take a random time each, but none overtakes another.
class SimulatedChannel final : public MessageChannel {
 public:
  SimulatedChannel(Simulation& simulation, Simulation::Mail& mail, int rank)
      : simulation_(simulation), mail_(mail), rank_(static_cast<std::size_t>(rank)) {}

  void send(int to, std::span<const std::byte> data) override {
    auto& letters = mail_[rank_][static_cast<std::size_t>(to)];
    auto arrives = simulation_.now_ns() + simulation_.draw(simulation_.settings_.longest_delay_ns);
    if (!letters.empty()) arrives = std::max(arrives, letters.back().arrives);
    letters.push_back({arrives, {data.begin(), data.end()}});
    simulation_.expect(arrives);
  }
  std::optional<int> receive(std::vector<std::byte>& out) override {
    std::vector<std::size_t> there;
    for (std::size_t from = 0; from < mail_.size(); ++from) {
      const auto& letters = mail_[from][rank_];
      if (!letters.empty() && letters.front().arrives <= simulation_.now_ns()) there.push_back(from);
    }
    if (there.empty()) {
      simulation_.idle(static_cast<int>(rank_));
      return std::nullopt;
    }
    const auto from = there[simulation_.random()() % there.size()];
    out = std::move(mail_[from][rank_].front().bytes);
    mail_[from][rank_].pop_front();
    return static_cast<int>(from);
  }
  void progress() override {}

 private:
  Simulation& simulation_;
  Simulation::Mail& mail_;
  std::size_t rank_;
};

Simulation::Simulation(SimulationSettings settings) : settings_(settings), random_(settings.seed) {
  for (int r = 0; r < settings_.ranks; ++r) members_.push_back(std::make_unique<Member>());
  holder_ = choose();
}

Simulation::~Simulation() = default;

std::int64_t Simulation::draw(std::int64_t most) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
}

void Simulation::play(const std::function<void(SimulatedRank&)>& work) {
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < settings_.ranks; ++r) threads.emplace_back([this, r, &work] { run(r, work); });
  }
  if (error_) std::rethrow_exception(error_);
}

void Simulation::run(int rank, const std::function<void(SimulatedRank&)>& work) {
  std::exception_ptr error;
  try {
    {
      std::unique_lock lock(mutex_);
      member(rank).gets_baton.wait(lock, [&] { return holder_ == rank; });
    }
    SimulatedRank mine(*this, rank);
    work(mine);
  } catch (...) {
    error = std::current_exception();
  }
  leave(rank, error);
}

void Simulation::leave(int rank, const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (error && !error_) error_ = error;
  member(rank).runs = false;
  if (std::ranges::none_of(members_, [](const auto& m) { return m->runs; })) return;
  holder_ = choose();
  member(holder_).gets_baton.notify_one();
}

/// With an error on its way all go on, to meet it.
int Simulation::choose() {
  std::vector<int> able;
  for (int r = 0; r < settings_.ranks; ++r) {
    if (member(r).runs && (!member(r).waits || error_)) able.push_back(r);
  }
  if (able.empty()) {
    error_ = std::make_exception_ptr(std::logic_error("all ranks wait for each other"));
    return choose();
  }
  return able[random_() % able.size()];
}

void Simulation::pass(int rank) {
  std::unique_lock lock(mutex_);
  if (++passes_ > kMostPasses && !error_) error_ = std::make_exception_ptr(std::logic_error("the run does not end"));
  holder_ = choose();
  if (holder_ != rank) {
    member(holder_).gets_baton.notify_one();
    member(rank).gets_baton.wait(lock, [&] { return holder_ == rank; });
  }
  if (error_) throw std::runtime_error("a rank is gone");
}

void Simulation::meet(int rank) {
  busy();
  const auto number = ++member(rank).met;
  if (std::ranges::all_of(members_, [&](const auto& m) { return m->met >= number; })) {
    for (auto& m : members_) m->waits = false;
  } else {
    member(rank).waits = true;
  }
  pass(rank);
}

void Simulation::idle(int rank) {
  member(rank).idle = true;
  const auto has_work = [](const auto& m) { return m->runs && !m->waits && !m->idle; };
  if (std::ranges::none_of(members_, has_work)) jump();
  pass(rank);
}

void Simulation::busy() {
  for (auto& m : members_) m->idle = false;
  step_ = 0;
  now_ += draw(kLongestTurn);
}

void Simulation::jump() {
  for (auto& m : members_) m->idle = false;
  step_ = std::clamp(2 * step_, std::min(kFirstStep, settings_.longest_step_ns), settings_.longest_step_ns);
  due_.erase(due_.begin(), due_.upper_bound(now_));
  now_ += due_.empty() ? step_ : std::min(step_, *due_.begin() - now_);
}

std::uint64_t Simulation::least_shut() const {
  auto least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& m : members_) least = std::min(least, m->shut);
  return least;
}

SimulatedRank::SimulatedRank(Simulation& simulation, int rank)
    : simulation_(simulation), rank_(rank), clock_offset_(simulation.draw(simulation.settings_.clock_spread_ns)) {}

SteadyClock SimulatedRank::clock() {
  return [this] { return SteadyTime(std::chrono::nanoseconds(simulation_.now_ns() + clock_offset_)); };
}

std::unique_ptr<Transport> SimulatedRank::open_window(std::uint64_t bytes) {
  simulation_.member(rank_).window_bytes = bytes;
  simulation_.meet(rank_);
  auto& fabrics = simulation_.fabrics_;
  if (fabrics.size() == windows_) {
    std::vector<std::uint64_t> sizes;
    for (const auto& m : simulation_.members_) sizes.push_back(m->window_bytes);
    fabrics.push_back(std::make_unique<LoopbackFabric>(sizes, simulation_.random_()));
  }
  simulation_.meet(rank_);
  return std::make_unique<SimulatedWindow>(fabrics[windows_++]->rank(rank_));
}

std::unique_ptr<MessageChannel> SimulatedRank::open_channel() {
  auto& mails = simulation_.mails_;
  const auto n = static_cast<std::size_t>(size());
  if (mails.size() == channels_)
    mails.push_back(std::make_unique<Simulation::Mail>(n, Simulation::Mail::value_type(n)));
  return std::make_unique<SimulatedChannel>(simulation_, *mails[channels_++], rank_);
}

int SimulatedRank::asked_to_stop() const { return simulation_.now_ns() >= signal_at_ ? signal_ : 0; }

void SimulatedRank::end_program() { throw std::runtime_error("rank " + std::to_string(rank_) + " ends the program"); }

void SimulatedRank::reset() {
  simulation_.busy();
  simulation_.pass(rank_);
}

std::unique_ptr<PendingBarrier> SimulatedRank::barrier() const {
  const auto number = ++simulation_.member(rank_).shut;
  return std::make_unique<SimulatedBarrier>([this, number] { return simulation_.least_shut() >= number; });
}

void SimulatedRank::say(std::span<const std::byte> mine) const {
  simulation_.member(rank_).says = mine;
  simulation_.meet(rank_);
}

void SimulatedRank::gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                                 std::span<std::byte> all) const {
  say(mine);
  std::size_t at = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    copy(simulation_.members_[r]->says, all.subspan(at, bytes[r]));
    at += bytes[r];
  }
  simulation_.meet(rank_);
}

void SimulatedRank::broadcast_bytes(std::span<std::byte> data) const {
  say(data);
  if (rank_ != 0) copy(simulation_.members_[0]->says, data);
  simulation_.meet(rank_);
}

}  // namespace eventloom::test
