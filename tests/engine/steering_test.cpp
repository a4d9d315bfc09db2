#include <algorithm>
#include <csignal>

#include "core/runtime/setting.hpp"
#include "engine_fixture.hpp"
#include "formats/stream_file.hpp"

namespace eventloom::test {
namespace {

using std::chrono::milliseconds;

/// Pause, resume, stop and end, in the middle of whole runs.
class Steering : public Engine {
 protected:
  static int any_rank(CaseMaker& maker, const RunCase& of) {
    return static_cast<int>(maker.draw(0, static_cast<std::uint64_t>(of.roles.ranks) - 1));
  }
  /// Pauses and resumes in any order, by any ranks, within `within_ns`, and a final resume after all of them.
  static void pause_now_and_then(CaseMaker& maker, RunCase& of, std::uint64_t within_ns) {
    for (auto n = maker.draw(1, 8); n > 0; --n) {
      const auto at = static_cast<std::int64_t>(maker.draw(0, within_ns));
      of.commands.push_back({any_rank(maker, of), at, maker.draw(0, 2) == 0 ? Command::resume : Command::pause});
    }
    std::ranges::sort(of.commands, {}, &TimedCommand::at_ns);
    const auto last = static_cast<std::int64_t>(within_ns) + 20'000'000;
    of.commands.push_back({any_rank(maker, of), last, Command::resume});
  }
  static void pause(CaseMaker& maker, RunCase& of, std::int64_t from_ns, std::int64_t until_ns) {
    of.commands = {{any_rank(maker, of), from_ns, Command::pause}, {any_rank(maker, of), until_ns, Command::resume}};
  }
  /// One slice per 0.2 ms: commands take effect within about 3 ms.
  static void keep_pace(RunCase& of) { of.speed = static_cast<double>(of.geometry().slice_ticks()) / 200'000; }
};

TEST_F(Steering, PausesChangeNothing) {
  std::uint64_t paused = 0;
  for (const auto seed : Seeds(200)) {
    CaseMaker maker(seed);
    auto of = seed % 3 == 0 ? maker.any() : maker.steady(40);
    maker.choose_schedule(of);
    of.roles.filters = static_cast<std::uint32_t>(maker.draw(0, 2));
    keep_pace(of);
    pause_now_and_then(maker, of, 5'000'000);
    paused += expect_whole(of).paused_ns > 5'000'000 ? 1 : 0;
  }
  if (is_replay()) return;
  EXPECT_GT(paused, cases(60));
}

/// The ranks finish the slices begun and begin no others (which would be a fault), while the clock runs.
TEST_F(Steering, TimePassesInAPause) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    maker.choose_schedule(of);
    keep_pace(of);
    pause(maker, of, static_cast<std::int64_t>(maker.draw(0, 3'000'000)), 300'000'000);
    const auto outcome = expect_whole(of);
    EXPECT_GT(outcome.paused_ns, 290'000'000) << text_of(of);
    const auto before = [&](const auto& sent) { return sent.second < 290'000'000; };
    EXPECT_LT(std::ranges::count_if(outcome.sent_at, before), 40) << "nothing remained to begin; " << text_of(of);
    const auto built = [&](const auto& entry) { return entry.second.at_ns < 290'000'000; };
    EXPECT_GE(std::ranges::count_if(outcome.slices, built) + 1, std::ranges::count_if(outcome.sent_at, before))
        << "slices begun were not built; " << text_of(of);
  }
}

/// Full speed, so that only the pause stops progress; one rank, so that the pause takes effect at once.
TEST_F(Steering, NoWarningOfMissingProgressInAPause) {
  for (const auto seed : Seeds(10)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.roles.ranks = of.simulation.ranks = 1;
    of.stalls = {milliseconds(50), milliseconds(0)};
    pause(maker, of, 0, 300'000'000);
    const Messages messages;
    const auto outcome = expect_whole(of);
    EXPECT_GT(outcome.paused_ns, 290'000'000) << text_of(of);
    EXPECT_EQ(messages.with("no rank has made progress").size(), 0U) << text_of(of);
  }
}

/// The replay continues from where it was, at its pace.
TEST_F(Steering, PausedReplayDoesNotCatchUp) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    keep_pace(of);
    of.simulation.longest_step_ns = 50'000;
    pause(maker, of, 1'000'000, 21'000'000);
    const auto outcome = expect_whole(of);
    EXPECT_GT(outcome.paused_ns, 15'000'000) << text_of(of);
    for (const auto& [slice, time] : outcome.sent_at) {
      const bool behind = time > outcome.all_paused_since + outcome.paused_ns;
      const auto wait = behind ? outcome.paused_ns - 1'000'000 : -1;
      EXPECT_GE(time, static_cast<std::int64_t>(slice + 1) * 200'000 + wait) << "slice " << slice << text_of(of);
    }
    EXPECT_LT(outcome.took_ns, 60 * 200'000 + outcome.paused_ns + 10'000'000) << text_of(of);
  }
}

/// A recording continues at the new pace from where it is, also if requested in a pause. Ranks receive the command at
/// times that differ by up to a millisecond, and their positions differ by what they send in that time.
TEST_F(Steering, ReplayContinuesAtAnotherSpeed) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = maker.steady(100);
    keep_pace(of);
    of.simulation.longest_step_ns = 10'000;
    const double factor = seed % 2 == 0 ? 0.25 : 2;
    const auto at = static_cast<std::int64_t>(maker.draw(1'000'000, 3'000'000));
    const int rank = any_rank(maker, of);
    of.commands = {{rank, at, Command::speed, factor * of.speed}};
    const bool in_a_pause = seed % 3 == 0;
    if (in_a_pause) {
      of.commands.insert(of.commands.begin(), {rank, at - 1'000'000, Command::pause});
      of.commands.push_back({rank, at + 8'000'000, Command::resume});
    }
    const auto outcome = expect_whole(of);
    const auto settled = at + (in_a_pause ? 13'000'000 : 5'000'000);
    const auto first = std::ranges::find_if(outcome.sent_at, [&](const auto& sent) { return sent.second > settled; });
    ASSERT_NE(first, outcome.sent_at.end()) << text_of(of);
    for (auto sent = first; sent != outcome.sent_at.end(); ++sent) {
      const auto due = static_cast<double>(sent->first - first->first) * 200'000 / factor;
      EXPECT_NEAR(static_cast<double>(sent->second - first->second), due, 2'500'000) << sent->first << text_of(of);
    }
    const auto late = in_a_pause ? outcome.paused_ns : 0;
    const auto by_then = 200'000 * static_cast<std::int64_t>(first->first);
    if (factor > 1) {
      EXPECT_LT(first->second - late, by_then + 200'000) << "fell behind; " << text_of(of);
    } else {
      EXPECT_GT(first->second - late, by_then + 1'000'000) << "continued as before; " << text_of(of);
    }
  }
}

/// Commands requested at the same time are executed in order; on one rank at once, so that little is sent at full
/// speed.
TEST_F(Steering, FullSpeedEndsAndBeginsByCommand) {
  for (const auto seed : Seeds(30)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    keep_pace(of);
    const double paced = of.speed;
    of.commands = {{any_rank(maker, of), 2'000'000, Command::speed, 0}};
    EXPECT_LT(expect_whole(of).took_ns, 9'000'000) << text_of(of);
    of.speed = 0;
    of.roles.ranks = of.simulation.ranks = 1;
    of.commands = {{0, 0, Command::pause}, {0, 0, Command::speed, paced}, {0, 0, Command::resume}};
    const auto outcome = expect_whole(of);
    const auto begun = [&](const auto& sent) { return sent.second < 10'000'000; };
    const auto later = 60 - std::ranges::count_if(outcome.sent_at, begun);
    EXPECT_GT(outcome.took_ns, 10'000'000 + (later - 2) * 200'000) << text_of(of);
  }
}

TEST_F(Steering, EveryRankHearsOfEachNewFile) {
  for (const auto seed : Seeds(40)) {
    CaseMaker maker(seed);
    auto of = maker.steady(200);
    keep_pace(of);
    const int rank = any_rank(maker, of);
    const auto n = static_cast<int>(maker.draw(1, 5));
    for (int i = 0; i < n; ++i) of.commands.push_back({rank, 1'000'000 * (i / 2), Command::new_file});
    if (seed % 4 == 0) of.commands.insert(of.commands.begin(), {rank, 0, Command::pause});
    if (seed % 4 == 0) of.commands.push_back({rank, 30'000'000, Command::resume});
    const auto outcome = expect_whole(of);
    EXPECT_EQ(outcome.new_files, std::vector(outcome.new_files.size(), n)) << text_of(of);
  }
}

TEST_F(Steering, StopsAndEndsWhilePaused) {
  for (const auto seed : Seeds(120)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    maker.choose_schedule(of);
    keep_pace(of);
    const auto pause_at = static_cast<std::int64_t>(maker.draw(0, 3'000'000));
    of.commands = {{any_rank(maker, of), pause_at, Command::pause}};
    switch (maker.draw(0, 2)) {
      case 0: of.duration = milliseconds(30); break;
      case 1: of.signal = SIGUSR1, of.signal_after_ns = pause_at + 20'000'000; break;
      default: of.commands.push_back({any_rank(maker, of), pause_at + 20'000'000, Command::stop});
    }
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    EXPECT_TRUE(outcome.cut_off) << text_of(of);
    const auto by = of.duration.count() != 0 ? "the end of " + name_of(Setting::duration)
                    : of.signal != 0         ? "SIGUSR1"
                                             : "a command";
    EXPECT_EQ(outcome.stopped_by, by) << text_of(of);
    EXPECT_LT(outcome.took_ns, 45'000'000) << text_of(of);
    expect_resumed(of, outcome);
  }
}

/// Data received in a pause wait for its end: no source is given up because of it.
TEST_F(Steering, LiveSourcesWaitOutAPause) {
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    of.epoch_timeout = milliseconds(2);
    maker.make_live(of, 20'000, 200'000);
    if (seed % 2 == 0)
      pause(maker, of, 1'000'000, 60'000'000);
    else
      pause_now_and_then(maker, of, 5'000'000);
    expect_whole(of);
  }
}

/// Memory used by the data that a source sends in this time.
std::size_t bytes_in(const std::vector<Arrival>& arrivals, std::int64_t time_ns) {
  std::size_t bytes = 0;
  for (const auto& arrival : arrivals) {
    if (arrival.time_ns < time_ns) bytes += arrival.buffer.bytes.size() + sizeof(IndexEntry);
  }
  return bytes;
}

/// The first sources are farther ahead of the last one than the timeout allows, and fill their memory in the pause.
TEST_F(Steering, SourcesFilledInAPauseAreNoReasonToGiveUpAnother) {
  for (const auto seed : Seeds(12)) {
    CaseMaker maker(seed);
    auto of = maker.steady(300);
    while (of.hits.size() < 2) of = maker.steady(300);
    of.epoch_timeout = milliseconds(8);
    maker.make_live(of, 50'000, 0);
    for (auto& arrival : of.arrivals.back()) arrival.time_ns += std::min<std::int64_t>(arrival.time_ns, 12'000'000);
    of.live_buffer = bytes_in(of.arrivals.front(), 15'000'000);
    expect_whole(of);
    pause(maker, of, 19'000'000, 32'000'000);
    const auto outcome = expect_whole(of);
    EXPECT_GT(outcome.paused_ns, 8'000'000) << text_of(of);
  }
}

TEST_F(Steering, LiveRunEndsInAPauseAfterAllDataReceived) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.epoch_timeout = milliseconds(5);
    maker.make_live(of, 50'000, 20'000);
    of.commands = {{any_rank(maker, of), 2'000'000, Command::pause}, {any_rank(maker, of), 6'000'000, Command::end}};
    expect_all_received(of, play(of), 6'000'000);
  }
}

/// Live data that are not built now are lost: if all sources are live, a stop is an end.
TEST_F(Steering, StoppedLiveRunBuildsAllDataReceived) {
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    of.epoch_timeout = milliseconds(5);
    maker.make_live(of, 50'000, 20'000);
    const auto at = static_cast<std::int64_t>(maker.draw(1'000'000, 5'000'000));
    if (seed % 2 == 0)
      of.commands = {{any_rank(maker, of), at, Command::stop}};
    else
      of.signal = SIGUSR1, of.signal_after_ns = at;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.stopped_by, seed % 2 == 0 ? "a command" : "SIGUSR1") << text_of(of);
    expect_all_received(of, outcome, at);
  }
}

/// The recording continues in another run, to which the live sources send the data that it lacks.
TEST_F(Steering, StoppedRunOfLiveSourcesBesideARecordingIsResumed) {
  std::uint64_t cut_off = 0;
  for (const auto seed : Seeds(60)) {
    CaseMaker maker(seed);
    auto of = maker.steady(40);
    while (of.hits.size() < 2) of = maker.steady(40);
    maker.make_live(of, 50'000, 20'000);
    of.arrivals.front().clear();
    of.signal = SIGUSR1;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 5'000'000));
    const auto outcome = play(of);
    EXPECT_EQ(outcome.errors, no_errors(of)) << text_of(of);
    EXPECT_EQ(difference(of, outcome, true), "") << text_of(of);
    if (!outcome.cut_off) continue;
    ++cut_off;
    expect_resumed(of, outcome);
  }
  if (is_replay()) return;
  EXPECT_GT(cut_off, cases(40));
}

/// Only slices of the failed writers are missing, whatever else requested the end.
TEST_F(Steering, WritersThatFailBesideAStop) {
  std::uint64_t by_writer = 0;
  for (const auto seed : Seeds(100)) {
    CaseMaker maker(seed);
    auto of = maker.steady(60);
    maker.choose_schedule(of);
    keep_pace(of);
    of.sink_fails_after = maker.draw(1, 12);
    of.sink_stops = seed % 2 == 0;
    of.signal = SIGUSR1;
    of.signal_after_ns = static_cast<std::int64_t>(maker.draw(0, 4'000'000));
    const Messages messages;
    const auto outcome = play(of);
    EXPECT_EQ(outcome.faults, std::vector<std::string>()) << text_of(of);
    const std::vector<std::string> all_fail(outcome.errors.size(), "the disk is full");
    if (outcome.errors != no_errors(of)) {
      EXPECT_FALSE(of.sink_stops) << text_of(of);
      EXPECT_EQ(outcome.errors, all_fail) << text_of(of);
      continue;
    }
    EXPECT_EQ(messages.with(": stopping cleanly").size(), 1U) << "the first counts; " << text_of(of);
    EXPECT_EQ(messages.with(outcome.stopped_by + ", at rank").size(), 1U) << text_of(of);
    EXPECT_TRUE(outcome.cut_off) << text_of(of);
    by_writer += outcome.stopped_by == "a full or failing disk" ? 1 : 0;
    expect_resumed(of, outcome);
  }
  if (is_replay()) return;
  EXPECT_GT(by_writer, 0U);
  EXPECT_LT(by_writer, cases(45));
}

}  // namespace
}  // namespace eventloom::test
