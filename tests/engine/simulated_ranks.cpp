#include "simulated_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace eventloom::test {

namespace {

/// A case in which the baton is passed more often is considered endless.
constexpr std::uint64_t kMostPasses = 3'000'000;
constexpr std::int64_t kLongestTurn = 3'000;
constexpr std::int64_t kFirstStep = 20'000;

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() != to.size()) throw std::logic_error("a rank sends another number of bytes than the others expect");
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

class SimulatedBarrier final : public PendingBarrier {
 public:
  explicit SimulatedBarrier(std::function<bool()> all_here) : all_here_(std::move(all_here)) {}
  bool done() override { return all_here_(); }

 private:
  std::function<bool()> all_here_;
};

}  // namespace

/// Letters between two ranks take random times, but none overtakes another.
class SimulatedChannel final : public MessageChannel {
 public:
  SimulatedChannel(Simulation& simulation, Simulation::Mail& mail, int rank, int member)
      : simulation_(simulation), mail_(mail), rank_(static_cast<std::size_t>(rank)), member_(member) {}

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
      simulation_.idle(member_);
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
  int member_;
};

/// A rank's window in a fabric owned by the simulation. Its unflushed puts are lost with it.
class SimulatedWindow final : public Transport {
 public:
  /// `all`: the windows of the rank.
  SimulatedWindow(Simulation& simulation, Simulation::Group& group, LoopbackFabric& fabric, int rank,
                  std::shared_ptr<std::vector<SimulatedWindow*>> all)
      : simulation_(simulation),
        group_(group),
        fabric_(fabric),
        rank_(rank),
        of_(fabric.rank(rank)),
        all_(std::move(all)) {
    all_->push_back(this);
  }
  ~SimulatedWindow() override {
    std::erase(*all_, this);
    fabric_.leave(rank_);
  }
  SimulatedWindow(const SimulatedWindow&) = delete;
  SimulatedWindow& operator=(const SimulatedWindow&) = delete;
  [[nodiscard]] std::span<std::byte> window() override { return of_.window(); }
  [[nodiscard]] bool is_near(int rank) const override { return of_.is_near(rank); }
  /// MPI makes progress for all windows.
  void progress() override {
    for (auto* window : *all_) {
      window->deliver_held();
      window->of_.progress();
    }
  }
  void sync() override { of_.sync(); }

 private:
  struct HeldPut {
    int rank;
    std::uint64_t offset;
    std::vector<std::byte> data;
  };

  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override {
    deliver_held();
    if (simulation_.stands_still()) {
      held_.push_back({rank, offset, {data.begin(), data.end()}});
    } else {
      of_.put(rank, offset, data);
    }
  }
  void complete_puts(int rank) override {
    deliver_held();
    simulation_.wait_for_turn(group_.places[static_cast<std::size_t>(rank_)].member,
                              group_.places[static_cast<std::size_t>(rank)].member);
    of_.flush(rank);
  }
  void deliver_held() {
    if (simulation_.stands_still()) return;
    for (const auto& put : std::exchange(held_, {})) {
      of_.put(put.rank, put.offset, put.data);
      of_.flush(put.rank);
    }
  }

  Simulation& simulation_;
  Simulation::Group& group_;
  LoopbackFabric& fabric_;
  int rank_;
  Transport& of_;
  std::shared_ptr<std::vector<SimulatedWindow*>> all_;
  std::vector<HeldPut> held_;
};

Simulation::Simulation(SimulationSettings settings)
    : settings_(settings), random_(settings.seed), members_(static_cast<std::size_t>(settings.ranks)) {
  for (int r = 0; r < settings_.ranks; ++r) all_.places.emplace_back(r);
}

Simulation::~Simulation() = default;

std::int64_t Simulation::draw(std::int64_t most) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
}

void Simulation::set_absence(const Absence& absence, std::int64_t begin_ns) {
  absence_ = absence;
  absence_.from_ns += begin_ns;
  expect(absence_.from_ns);
  if (absence.until_ns == kNever) return;
  absence_.until_ns += begin_ns;
  expect(absence_.until_ns);
}

void Simulation::set_standstill(const Standstill& standstill, std::int64_t begin_ns) {
  standstill_ = {standstill.from_ns + begin_ns, standstill.until_ns + begin_ns};
  expect(standstill_.until_ns);
}

void Simulation::play(const std::function<void(SimulatedRank&)>& work) {
  for (int r = 0; r < settings_.ranks; ++r) {
    member(r).fiber = std::make_unique<Fiber>([this, r, &work] { run(r, work); });
  }
  main_.switch_to(*member(choose()).fiber);
  all_left_ = true;
  for (auto& left : members_) {
    if (left.runs) main_.switch_to(*left.fiber);
  }
  if (error_) std::rethrow_exception(error_);
}

void Simulation::run(int number, const std::function<void(SimulatedRank&)>& work) {
  try {
    SimulatedRank mine(*this, all_, number);
    work(mine);
  } catch (...) {
    if (!error_ && !all_left_) error_ = std::current_exception();
  }
  member(number).runs = false;
  member(number).fiber->end_in(next_fiber());
}

/// The next rank, or play() if no rank that answers is left.
Fiber& Simulation::next_fiber() {
  bool any = false;
  for (int r = 0; r < settings_.ranks; ++r) any = any || (member(r).runs && !is_gone(r));
  return any && !all_left_ ? *member(choose()).fiber : main_;
}

bool Simulation::is_absent(int number) const {
  return (number == absence_.rank || absence_.rank == kAllRanks) && in_absence();
}

bool Simulation::is_gone(int number) const { return is_absent(number) && absence_.until_ns == kNever; }

/// After an error all ranks continue, so that each of them notices it.
int Simulation::choose() {
  able_.clear();
  for (int r = 0; r < settings_.ranks; ++r) {
    const bool able = (!member(r).waits && !is_absent(r)) || (error_ && !is_gone(r));
    if (member(r).runs && able) able_.push_back(r);
  }
  if (!able_.empty()) return able_[random_() % able_.size()];
  if (absence_.rank != -1 && in_absence() && absence_.until_ns != kNever) {
    now_ = absence_.until_ns;
  } else {
    error_ = std::make_exception_ptr(std::logic_error("all ranks wait for each other"));
  }
  return choose();
}

void Simulation::pass(int number) {
  ++member(number).turns;
  if (++passes_ > kMostPasses && !error_) error_ = std::make_exception_ptr(std::logic_error("the run does not end"));
  auto& mine = *member(number).fiber;
  if (auto& next = next_fiber(); &next != &mine) mine.switch_to(next);
  if (error_ || all_left_) throw std::runtime_error("a rank is gone");
}

/// Waits at random. Does not wait for a rank that is in a collective operation, is suspended or has ended.
void Simulation::wait_for_turn(int number, int of) {
  if (random_() % 4 != 0) return;
  const auto turns = member(of).turns;
  while (member(of).turns == turns && member(of).runs && !member(of).waits && !is_absent(of)) pass(number);
}

void Simulation::meet(Group& group, int rank) {
  busy();
  auto& mine = group.places[static_cast<std::size_t>(rank)];
  ++mine.met;
  const bool all = std::ranges::all_of(group.places, [&](const auto& place) { return place.met >= mine.met; });
  member(mine.member).waits = !all;
  if (all) {
    for (const auto& place : group.places) member(place.member).waits = false;
  }
  pass(mine.member);
}

void Simulation::idle(int number) {
  member(number).idle = true;
  bool any_has_work = false;
  for (int r = 0; r < settings_.ranks; ++r) {
    const auto& m = member(r);
    any_has_work = any_has_work || (m.runs && !m.waits && !m.idle && !is_absent(r));
  }
  if (!any_has_work) jump();
  pass(number);
}

void Simulation::busy() {
  for (auto& m : members_) m.idle = false;
  step_ = 0;
  now_ += draw(kLongestTurn);
}

void Simulation::jump() {
  for (auto& m : members_) m.idle = false;
  step_ = std::clamp(2 * step_, std::min(kFirstStep, settings_.longest_step_ns), settings_.longest_step_ns);
  due_.erase(due_.begin(), due_.upper_bound(now_));
  now_ += due_.empty() ? step_ : std::min(step_, *due_.begin() - now_);
}

Simulation::Group& Simulation::answering() {
  if (answering_) return *answering_;
  answering_ = std::make_unique<Group>();
  for (int r = 0; r < settings_.ranks; ++r) {
    if (!is_gone(r)) answering_->places.emplace_back(r);
  }
  return *answering_;
}

SimulatedRank::SimulatedRank(Simulation& simulation, Simulation::Group& group, int rank)
    : simulation_(simulation),
      group_(group),
      rank_(rank),
      member_(place().member),
      clock_offset_(simulation.draw(simulation.settings_.clock_spread_ns)) {}

std::unique_ptr<SimulatedRank> SimulatedRank::among_the_others() {
  auto& others = simulation_.answering();
  const auto mine = std::ranges::find(others.places, member_, &Simulation::Group::Place::member);
  return std::make_unique<SimulatedRank>(simulation_, others, static_cast<int>(mine - others.places.begin()));
}

SteadyClock SimulatedRank::clock() {
  return [this] { return SteadyTime(std::chrono::nanoseconds(simulation_.now_ns() + clock_offset_)); };
}

std::unique_ptr<Transport> SimulatedRank::open_window(std::uint64_t bytes) {
  place().window_bytes = bytes;
  simulation_.meet(group_, rank_);
  auto& fabrics = group_.fabrics;
  if (fabrics.size() == windows_) {
    std::vector<std::uint64_t> sizes;
    for (const auto& place : group_.places) sizes.push_back(place.window_bytes);
    fabrics.push_back(std::make_unique<LoopbackFabric>(sizes, simulation_.random_()));
    fabrics.back()->set_near(!simulation_.settings_.far);
  }
  simulation_.meet(group_, rank_);
  return std::make_unique<SimulatedWindow>(simulation_, group_, *fabrics[windows_++], rank_, open_windows_);
}

std::unique_ptr<MessageChannel> SimulatedRank::open_channel() {
  auto& mails = group_.mails;
  const auto n = group_.places.size();
  if (mails.size() == channels_)
    mails.push_back(std::make_unique<Simulation::Mail>(n, Simulation::Mail::value_type(n)));
  return std::make_unique<SimulatedChannel>(simulation_, *mails[channels_++], rank_, member_);
}

std::optional<int> SimulatedRank::lost_peer() const {
  const bool lost = peer_lost_at_ != 0 && simulation_.now_ns() >= peer_lost_at_;
  return lost ? std::optional(lost_peer_) : std::nullopt;
}

int SimulatedRank::asked_to_stop() const { return simulation_.now_ns() >= signal_at_ ? signal_ : 0; }

void SimulatedRank::end_program() { throw ProgramEnds("rank " + std::to_string(rank_) + " ends the program"); }

void SimulatedRank::reset() {
  simulation_.busy();
  simulation_.pass(member_);
}

std::unique_ptr<PendingBarrier> SimulatedRank::barrier() const {
  const auto number = ++place().shut;
  return std::make_unique<SimulatedBarrier>([this, number] {
    return std::ranges::all_of(group_.places, [&](const auto& place) { return place.shut >= number; });
  });
}

void SimulatedRank::say(std::span<const std::byte> mine) const {
  place().says = mine;
  simulation_.meet(group_, rank_);
}

void SimulatedRank::gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                                 std::span<std::byte> all) const {
  say(mine);
  std::size_t at = 0;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    copy(group_.places[r].says, all.subspan(at, bytes[r]));
    at += bytes[r];
  }
  simulation_.meet(group_, rank_);
}

void SimulatedRank::broadcast_bytes(std::span<std::byte> data) const {
  say(data);
  if (rank_ != 0) copy(group_.places[0].says, data);
  simulation_.meet(group_, rank_);
}

}  // namespace eventloom::test
