#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include "engine_fixture.hpp"
#include "schedulers/make_scheduler.hpp"

namespace eventloom::test {
namespace {

using std::chrono::milliseconds;

/// Some ranks take no turn for a while, or never again; others continue their sessions.
class Sessions : public Engine {
 protected:
  /// A run of 12 ms with at least `ranks` ranks, one of which leaves it in the middle.
  static RunCase disturbed(CaseMaker& maker, int ranks) {
    auto of = maker.steady(60);
    while (of.roles.ranks < ranks) of = maker.steady(60);
    of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000;
    of.simulation.longest_step_ns = 2'000'000;
    of.absence.rank = static_cast<int>(maker.draw(0, static_cast<std::uint64_t>(of.roles.ranks) - 1));
    of.absence.from_ns = static_cast<std::int64_t>(maker.draw(500'000, 8'000'000));
    of.absence.until_ns = kNever;
    return of;
  }
  static std::string absent(const RunCase& of) { return "rank " + std::to_string(of.absence.rank); }
};

TEST_F(Sessions, RankThatIsSilentForAWhileIsNamedOnceAndWaitedFor) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 2);
    of.absence.until_ns = of.absence.from_ns + 900'000'000;
    of.stalls = {milliseconds(500), milliseconds(5000)};
    const Messages messages;
    const auto outcome = expect_whole(of);
    EXPECT_GE(outcome.took_ns, 900'000'000) << text_of(of);
    const auto reported = messages.with("has not answered for");
    EXPECT_EQ(reported.size(), 1U) << text_of(of);
    EXPECT_EQ(messages.with(absent(of) + " has not answered").size(), 1U) << text_of(of);
    EXPECT_EQ(messages.with("no rank has made progress").size(), 0U) << text_of(of);
  }
}

/// A laptop is closed, or a virtual machine is moved: no rank reports another one as silent.
TEST_F(Sessions, SuspendedHostContinuesSilently) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 2);
    of.absence.rank = kAllRanks;
    of.absence.until_ns = of.absence.from_ns + 900'000'000'000;
    of.stalls = {milliseconds(500), milliseconds(5000)};
    const Messages messages;
    const auto outcome = expect_whole(of);
    EXPECT_GE(outcome.took_ns, 900'000'000'000) << text_of(of);
    EXPECT_EQ(messages.with("answered").size(), 0U) << text_of(of);
    EXPECT_EQ(messages.with("no rank has made progress").size(), 0U) << text_of(of);
  }
}

/// All ranks take their turns and hear from one another, but no data arrive.
TEST_F(Sessions, RunWithoutProgressIsNamedOnce) {
  std::uint64_t stood_still = 0;
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.simulation.longest_step_ns = 2'000'000;
    maker.choose_schedule(of);
    const auto from = static_cast<std::int64_t>(maker.draw(0, 200'000));
    of.standstill = {from, from + 900'000'000};
    of.stalls = {milliseconds(500), milliseconds(5000)};
    const Messages messages;
    if (expect_whole(of).took_ns < of.standstill.until_ns) continue;
    ++stood_still;
    EXPECT_EQ(messages.with("no rank has made progress for 0.5 s").size(), 1U) << text_of(of);
    EXPECT_EQ(messages.with("no rank has made progress").size(), 1U) << text_of(of);
    EXPECT_EQ(messages.with("not answered").size(), 0U) << text_of(of);
  }
  if (is_replay()) return;
  EXPECT_GT(stood_still, cases(20));
}

/// The largest lead of a source over the lowest slice that it has not handed over, in slices.
std::uint64_t greatest_lead(const Outcome& outcome) {
  std::map<std::uint16_t, std::pair<std::uint64_t, std::set<std::uint64_t>>> by_source;
  std::uint64_t greatest = 0;
  for (const auto& transfer : outcome.transfers) {
    auto& [lowest, handed_over] = by_source[transfer.source];
    greatest = std::max(greatest, transfer.slice - lowest);
    handed_over.insert(transfer.slice);
    while (handed_over.contains(lowest)) ++lowest;
  }
  return greatest;
}

/// Epochs of waiting slices stay in memory.
TEST_F(Sessions, SourcesWaitForABuilderThatIsFarBehind) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 3);
    of.schedule = "chaotic";
    of.absence.rank = of.roles.rank_of(BuilderId{of.roles.builders - 1});
    of.absence.until_ns = of.absence.from_ns + 20'000'000;
    const auto most = 2 * std::uint64_t{of.slices_in_flight} * of.roles.builders;
    EXPECT_LE(greatest_lead(expect_whole(of)), most) << text_of(of);
  }
}

TEST_F(Sessions, RankThatIsSilentForTooLongEndsTheProgramWithItsName) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 2);
    of.stalls = {milliseconds(0), milliseconds(1000)};
    const Messages messages;
    const auto outcome = play(of);
    EXPECT_EQ(messages.with(absent(of) + " has been silent for 1.0 s, longer than").size(), 1U) << text_of(of);
    EXPECT_EQ(messages.with("has been silent").size(), 1U) << text_of(of);
    EXPECT_EQ(outcome.ended_at_ns.size() + 1, outcome.errors.size()) << text_of(of);
    for (const auto time : outcome.ended_at_ns) {
      EXPECT_GE(time, of.absence.from_ns + 1'000'000'000) << text_of(of);
      EXPECT_LT(time, of.absence.from_ns + 3'000'000'000) << text_of(of);
    }
  }
}

TEST_F(Sessions, PeerThatIsLostEndsTheProgramWhenOthersHaveSeenItToo) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 2);
    of.peer_lost_after_ns = of.absence.from_ns + 10'000'000;
    of.stalls = {milliseconds(800), milliseconds(0)};
    const Messages messages;
    const auto outcome = play(of);
    EXPECT_EQ(messages.with("rank").size(), 0U) << "the watchdog reports it; " << text_of(of);
    EXPECT_EQ(outcome.ended_at_ns.size() + 1, outcome.errors.size()) << text_of(of);
    for (const auto time : outcome.ended_at_ns) {
      EXPECT_GE(time, of.peer_lost_after_ns + 500'000'000) << text_of(of);
      EXPECT_LT(time, of.peer_lost_after_ns + 520'000'000) << text_of(of);
    }
  }
}

/// A builder's rank never answers again; the others continue from the slices written, with fewer builders or as many.
TEST_F(Sessions, OthersContinueWithoutABuilder) {
  std::uint64_t rebuilt = 0;
  for (const auto seed : Seeds(120)) {
    CaseMaker maker(seed);
    auto of = disturbed(maker, 3);
    of.schedule = maker.draw(0, 1) == 0 ? "round-robin" : "balanced";
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    const auto lost = static_cast<std::uint32_t>(maker.draw(0, of.roles.builders - 1));
    of.absence.rank = of.roles.rank_of(BuilderId{lost});
    of.stalls = {milliseconds(0), milliseconds(1000)};
    of.kept_of_lost = maker.draw(0, 5);
    of.roles_after = of.roles;
    --of.roles_after->ranks;
    of.roles_after->builders = std::max(1U, of.roles.builders - static_cast<std::uint32_t>(maker.draw(0, 1)));
    const auto outcome = expect_whole(of);
    EXPECT_EQ(outcome.ended_at_ns.size() + 1, outcome.errors.size()) << text_of(of);
    const auto before = std::ranges::count_if(outcome.slices, [](const auto& s) { return !s.second.after; });
    rebuilt += before > 0 ? 1 : 0;
    EXPECT_LT(before, 60) << text_of(of);
  }
  if (is_replay()) return;
  EXPECT_GT(rebuilt, cases(60));
}

/// A single live source.
RunCase lone_source(CaseMaker& maker) {
  auto of = maker.steady(40);
  of.roles.sources = 1;
  of.hits.resize(1);
  of.roles.ranks = of.simulation.ranks = 2;
  of.quiet = milliseconds(5);
  maker.make_live(of, 20'000, 0);
  return of;
}

/// The source sends nothing for 50 ms before arrival `silent`.
void fall_silent(RunCase& of, std::size_t silent) {
  auto& arrivals = of.arrivals.front();
  for (auto i = silent; i < arrivals.size(); ++i) arrivals[i].time_ns += 50'000'000;
}

/// Two bursts, 50 ms apart: the last slice of the first does not wait for the second.
TEST_F(Sessions, QuietSourceLetsItsLastSliceGo) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = lone_source(maker);
    const auto& arrivals = of.arrivals.front();
    const auto silent = arrivals.size() / 2;
    fall_silent(of, silent);
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    const auto last_ns = arrivals[silent - 1].time_ns;
    const auto last = of.geometry().slice_of(arrivals[silent - 1].buffer.header.first_epoch).value;
    for (const auto& [number, written] : outcome.slices) {
      if (number > last) continue;
      EXPECT_LT(written.at_ns, last_ns + 5'000'000 + 3'000'000) << "slice " << number << ", " << text_of(of);
    }
    ASSERT_TRUE(outcome.slices.contains(last)) << text_of(of);
    EXPECT_GE(outcome.slices.at(last).at_ns, last_ns + 5'000'000) << text_of(of);
  }
}

/// The pause is as long as the margin that ended with the first burst: nothing of the second burst is late.
TEST_F(Sessions, QuietSourceKeepsTheNextSliceOpen) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = lone_source(maker);
    auto& arrivals = of.arrivals.front();
    const auto geometry = of.geometry();
    const auto epoch_at = [&](std::size_t i) { return arrivals[i].buffer.header.first_epoch; };
    const auto middle = arrivals.size() / 2;
    const auto end = geometry.owned_epochs(geometry.slice_of(epoch_at(middle))).end;
    const EpochRange without{end, end + geometry.margin_epochs()};
    std::erase_if(arrivals, [&](const Arrival& a) { return without.contains(a.buffer.header.first_epoch); });
    std::erase_if(of.hits.front(),
                  [&](const RefHit& h) { return without.contains(epoch_of(h.time, of.base.epoch_ticks)); });
    auto silent = middle;
    while (silent < arrivals.size() && epoch_at(silent) < end) ++silent;
    fall_silent(of, silent);
    expect_whole(of);
  }
}

/// Slices are sent in their slots, within the precision of the clocks. After a pause, slots are whole cycles later;
/// slices begun before the request may be late.
void expect_in_slots(const RunCase& of, const Outcome& outcome) {
  constexpr std::int64_t kExact = 5'000;
  const auto schedule = make_scheduler(of.schedule_settings(of.roles));
  const auto cycle = static_cast<std::int64_t>(schedule->cycle_ns());
  const auto resumed = outcome.all_paused_since + outcome.paused_ns;
  for (const auto& transfer : outcome.transfers) {
    const auto begin = schedule->start_ns({transfer.source}, {transfer.slice});
    auto past = transfer.at_ns - outcome.slots_begin_ns - static_cast<std::int64_t>(begin);
    const bool paused = outcome.paused_ns != 0;
    if (paused && transfer.at_ns > outcome.all_paused_since - 1'000'000 && transfer.at_ns < resumed + 100'000) continue;
    if (paused && transfer.at_ns > resumed) past = (past + kExact) % cycle - kExact;
    EXPECT_GE(past, -kExact) << "source " << transfer.source << ", slice " << transfer.slice << ", " << text_of(of);
    EXPECT_LT(past, static_cast<std::int64_t>(of.slot_ns)) << "slice " << transfer.slice << ", " << text_of(of);
  }
}

RunCase slotted(CaseMaker& maker) {
  auto of = maker.steady(60);
  of.slot_ns = 200'000;
  of.ring = {64, 1024};
  of.slices_in_flight = 16;
  of.simulation.clock_spread_ns = 1'000'000;
  of.simulation.longest_delay_ns = 2'000;
  of.simulation.longest_step_ns = 20'000;
  return of;
}

TEST_F(Sessions, TransfersBeginInTheirSlots) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    const auto of = slotted(maker);
    expect_in_slots(of, expect_whole(of));
  }
}

TEST_F(Sessions, TransfersBeginInLaterSlotsAfterAPause) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = slotted(maker);
    of.commands = {{0, 3'000'000, Command::pause}, {0, 20'000'000, Command::resume}};
    const auto outcome = expect_whole(of);
    EXPECT_GT(outcome.paused_ns, 10'000'000) << text_of(of);
    expect_in_slots(of, outcome);
  }
}

/// Rows are complete: losses by cause and source, each in its own slice only, and the builder.
TEST_F(Sessions, RowsOfTheLedger) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(30);
    of.schedule = seed % 2 == 0 ? "balanced" : "chaotic";
    of.keep_sorted = true;
    expect_whole(of);
    of.damaged = 5;
    of.epochs_per_buffer = 1;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> lost;
    std::map<std::uint64_t, std::uint64_t> in;
    for (std::uint16_t s = 0; s < of.hits.size(); ++s) {
      for (const auto& hit : of.hits[s]) {
        const auto slice = hit.time / of.geometry().slice_ticks();
        ++in[slice];
        if (of.is_damaged(s, epoch_of(hit.time, of.base.epoch_ticks))) ++lost[slice][s];
      }
    }
    for (const auto& [number, written] : outcome.slices) {
      const auto& slice = written.slice;
      std::map<std::uint32_t, std::uint64_t> reported;
      std::uint64_t sum = 0;
      for (const auto& loss : slice.losses) reported[loss.source] += loss.n_hits, sum += loss.n_hits;
      EXPECT_EQ(reported, lost[number]) << "slice " << number << ", " << text_of(of);
      EXPECT_EQ(slice.ledger.hits_in, in[number]) << "slice " << number << ", " << text_of(of);
      EXPECT_EQ(slice.ledger.hits_dropped[static_cast<std::size_t>(DropCause::corrupt)], sum) << text_of(of);
      EXPECT_EQ(slice.ledger.dropped(), sum) << text_of(of);
      EXPECT_TRUE(slice.ledger.balances()) << text_of(of);
      EXPECT_EQ(slice.ledger.builder, outcome.sorted_by.at(number)) << text_of(of);
    }
    EXPECT_EQ(outcome.slices.size(), in.size()) << text_of(of);
  }
}

}  // namespace
}  // namespace eventloom::test
