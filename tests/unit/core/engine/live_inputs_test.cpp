#include "core/engine/live_inputs.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/control/live_votes.hpp"
#include "tests/support/fake_live_stream.hpp"

namespace eventloom {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// `time` after the start of the test's clock.
SteadyTime at(nanoseconds time) { return SteadyTime{} + std::chrono::hours(1) + time; }

using GivenUp = std::vector<FakeLiveStream::GivenUp>;

/// Two sources on one rank, and the messages about them.
class LiveInputsTest : public testing::Test {
 protected:
  LiveInputsTest() {
    auto logger =
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_, true));
    logger->set_pattern("%v");
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(logger);
  }
  ~LiveInputsTest() override { spdlog::set_default_logger(before_); }

  void begin(LivePatience patience, std::int64_t lead = 0) {
    inputs_ = std::make_unique<LiveInputs>(patience);
    ahead_ = inputs_->add({3}, first, lead);
    behind_ = inputs_->add({4}, second, lead);
  }
  LiveInputs& inputs() { return *inputs_; }
  bool ready_first(Epoch end) { return inputs_->request(ahead_, {0, end}); }
  bool ready_second(Epoch end) { return inputs_->request(behind_, {0, end}); }
  void receive(nanoseconds time) { inputs_->receive(at(time)); }

  /// Number of lines with `word` since the last call.
  std::size_t reports(const std::string& word) {
    std::istringstream lines(said_.str());
    said_.str({});
    std::size_t n = 0;
    for (std::string line; std::getline(lines, line);) n += line.find(word) != std::string::npos ? 1 : 0;
    return n;
  }

  FakeLiveStream first{"first"};
  FakeLiveStream second{"second"};

 private:
  std::ostringstream said_;
  std::shared_ptr<spdlog::logger> before_;
  std::unique_ptr<LiveInputs> inputs_;
  std::size_t ahead_ = 0;
  std::size_t behind_ = 0;
};

TEST(Frontier, RemembersWhereItWas) {
  constexpr auto kMemory = milliseconds(6400);
  Frontier frontier;
  EXPECT_EQ(frontier.at(at({})), Epoch(0));
  // One epoch per millisecond.
  for (Epoch epoch = 1; epoch <= 20'000; ++epoch) frontier.advance(at(milliseconds(epoch.value)), epoch, kMemory);
  EXPECT_EQ(frontier.now(), Epoch(20'000));
  for (Epoch then = 14'000; then <= 20'000; then += 500) {
    const auto epoch = frontier.at(at(milliseconds(then.value)));
    EXPECT_LE(epoch, then);
    EXPECT_GE(epoch + 200, then) << "more than a little earlier";
  }
}

TEST(Frontier, IsAtEpoch0BeforeItWasFirstSeen) {
  Frontier frontier;
  frontier.advance(at(seconds(5)), 100, seconds(2));
  EXPECT_EQ(frontier.at(at(seconds(4))), Epoch(0));
  EXPECT_EQ(frontier.at(at(seconds(5))), Epoch(100));
}

TEST(Frontier, NeverFalls) {
  Frontier frontier;
  frontier.advance(at(seconds(1)), 100, seconds(2));
  frontier.advance(at(seconds(2)), 50, seconds(2));
  EXPECT_EQ(frontier.now(), Epoch(100));
  EXPECT_EQ(frontier.at(at(seconds(3))), Epoch(100));
}

/// A step soon after another one, followed by nothing.
TEST(Frontier, RemembersItsLastStep) {
  Frontier frontier;
  frontier.advance(at({}), 10, seconds(2));
  frontier.advance(at(milliseconds(1)), 1000, seconds(2));
  for (int turn = 2; turn < 5000; ++turn) frontier.advance(at(milliseconds(turn)), 1000, seconds(2));
  EXPECT_EQ(frontier.at(at(seconds(4))), Epoch(1000));
}

TEST_F(LiveInputsTest, ReceivedEpochsAreReady) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  EXPECT_TRUE(ready_first(10));
  EXPECT_FALSE(ready_first(11));
  EXPECT_FALSE(ready_second(10));
  EXPECT_EQ(inputs().received(), Epoch(10));
  EXPECT_TRUE(first.given_up.empty());
  EXPECT_TRUE(second.given_up.empty());
}

TEST_F(LiveInputsTest, AnEpochThatOthersPassedLongAgoIsGivenUp) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  first.come(20);
  receive(seconds(1));
  receive(milliseconds(1999));
  EXPECT_FALSE(ready_second(10));
  receive(milliseconds(2000));
  EXPECT_FALSE(ready_second(11)) << "passed only a second ago";
  EXPECT_TRUE(ready_second(10));
  EXPECT_EQ(second.given_up, (GivenUp{{10, true}}));
  EXPECT_TRUE(first.given_up.empty());
  EXPECT_EQ(reports("source 4 (second)"), 1U);
}

TEST_F(LiveInputsTest, ASourceThatHasEndedHasPassedTheMarginsSentWithItsLastData) {
  begin({.epoch_timeout = seconds(2), .passed_at_end = 5});
  first.come(10);
  first.ended = true;
  receive({});
  EXPECT_EQ(inputs().received(), Epoch(15));
  receive(seconds(2));
  EXPECT_TRUE(ready_second(15));
  EXPECT_FALSE(ready_second(16));
}

TEST_F(LiveInputsTest, OnlyOthersMakeItOverdue) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  second.come(10);
  receive({});
  receive(seconds(100));
  EXPECT_FALSE(ready_first(11));
  EXPECT_FALSE(ready_second(11));
}

TEST_F(LiveInputsTest, SourcesOfOtherRanksCount) {
  begin({.epoch_timeout = seconds(2)});
  receive({});
  inputs().set_others({.frontier = 50});
  receive(seconds(1));
  EXPECT_FALSE(ready_first(50));
  receive(seconds(3));
  EXPECT_TRUE(ready_first(50));
  EXPECT_TRUE(ready_second(50));
  EXPECT_FALSE(ready_second(51));
}

TEST_F(LiveInputsTest, WhereAllAreQuietTheRestOfTheSliceIsEmpty) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  second.come(10);
  receive({});
  receive(milliseconds(999));
  EXPECT_FALSE(ready_first(11));
  receive(seconds(1));
  EXPECT_FALSE(inputs().request(0, {10, 20})) << "no source has come that far";
  EXPECT_TRUE(ready_first(11));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(first.passed, std::vector<Epoch>{11});
  EXPECT_EQ(second.passed, std::vector<Epoch>{11});
  EXPECT_TRUE(first.given_up.empty() && second.given_up.empty()) << "nothing is missing";
}

TEST_F(LiveInputsTest, WhereAllAreQuietTheirLastHitsMayBeInDifferentEpochs) {
  for (const auto timeout : {seconds(2), seconds(0)}) {
    begin({.epoch_timeout = timeout, .quiet = seconds(1), .epochs_per_second = 10});
    first = FakeLiveStream("first");
    second = FakeLiveStream("second");
    second.come(9);
    first.come(9);
    receive({});
    first.come(10);
    receive(milliseconds(500));
    receive(milliseconds(1499));
    EXPECT_FALSE(ready_first(11) || ready_second(11));
    receive(milliseconds(1500));
    EXPECT_TRUE(ready_first(11) && ready_second(11));
    EXPECT_EQ(first.passed, std::vector<Epoch>{11});
    EXPECT_EQ(second.passed, std::vector<Epoch>{11});
    EXPECT_TRUE(first.given_up.empty() && second.given_up.empty()) << "nothing is missing";
  }
}

/// Slices are shorter than the silence.
TEST_F(LiveInputsTest, WhereAllAreQuietTheirLastHitsMayBeInDifferentSlices) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1), .epochs_per_second = 100});
  first.come(50);
  second.come(10);
  receive({});
  receive(seconds(1));
  EXPECT_TRUE(ready_second(11));
  EXPECT_TRUE(inputs().request(1, {11, 12}));
  EXPECT_EQ(second.passed, (std::vector<Epoch>{11, 12}));
}

/// Served files: data of the slower source must not become late because both connections are interrupted for a second.
TEST_F(LiveInputsTest, ASourceFarBehindIsNotPassed) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1), .epochs_per_second = 100});
  first.come(1000);
  second.come(10);
  receive({});
  receive(milliseconds(1999));
  EXPECT_FALSE(ready_second(11));
}

TEST_F(LiveInputsTest, ASourceSilentBeforeTheOthersIsMissingWhereAllAreQuiet) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  second.come(8);
  first.come(9);
  receive({});
  first.come(10);
  receive(milliseconds(2001));
  receive(milliseconds(4000));
  EXPECT_TRUE(ready_first(11));
  EXPECT_FALSE(ready_second(11));
  receive(milliseconds(4001));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, true}}));
  EXPECT_TRUE(second.passed.empty());
}

TEST_F(LiveInputsTest, ALostSourceIsMissingWhereAllAreQuiet) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  second.come(8);
  second.connected = false;
  receive({});
  receive(milliseconds(1999));
  EXPECT_FALSE(ready_second(11));
  receive(seconds(2));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, true}}));
}

/// A source given up for one slice in mid-run must not end with the next.
TEST_F(LiveInputsTest, NoStreamEndsInMidRun) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  second.come(8);
  second.connected = false;
  receive({});
  receive(seconds(2));
  EXPECT_TRUE(ready_second(12));
  EXPECT_TRUE(inputs().request(1, {8, 22}));
  EXPECT_EQ(second.given_up, (GivenUp{{12, true}, {22, true}}));
}

TEST_F(LiveInputsTest, ASliceWithDataOnlyInItsMarginIsNotPassed) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)}, 2);
  first.come(10);
  receive({});
  receive(seconds(1));
  EXPECT_TRUE(ready_first(12));
  EXPECT_FALSE(inputs().request(0, {8, 22})) << "it begins at 10";
  EXPECT_TRUE(inputs().request(0, {7, 21})) << "it begins at 9";
}

TEST_F(LiveInputsTest, ASourceSetAsideDelaysNothingWhereAllAreQuiet) {
  begin({.epoch_timeout = {}, .quiet = seconds(1), .epochs_per_second = 100});
  first.come(10);
  second.come(10);
  receive({});
  second.jumped = Epoch(1'000'000);
  receive(seconds(1));
  EXPECT_TRUE(ready_first(11) && ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, true}}));
}

/// A blocked run is not quiet.
TEST_F(LiveInputsTest, AFullSourceIsNotPassed) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  receive({});
  first.full = true;
  receive(seconds(1));
  inputs().set_others({.frontier = 10, .any_full = inputs().any_full()});
  EXPECT_FALSE(ready_first(11));
  first.full = false;
  inputs().set_others({.frontier = 10, .any_full = inputs().any_full()});
  receive(milliseconds(1900));
  EXPECT_FALSE(ready_first(11)) << "read for less than a second";
  receive(seconds(2));
  EXPECT_TRUE(ready_first(11));
}

/// Nor is one whose peer cannot send what it has, and time passes for it only afterwards.
TEST_F(LiveInputsTest, ASourceThatIsHeldUpIsNeitherPassedNorGivenUp) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(20);
  second.come(10);
  receive({});
  second.held_up = true;
  for (int i = 1; i < 50; ++i) {
    receive(i * milliseconds(100));
    EXPECT_FALSE(ready_second(20));
  }
  second.held_up = false;
  receive(milliseconds(5800));
  EXPECT_FALSE(ready_second(20));
  receive(milliseconds(6900));
  EXPECT_TRUE(ready_second(20));
}

TEST_F(LiveInputsTest, TheEndDoesNotWaitForASourceThatIsHeldUp) {
  begin({.epoch_timeout = seconds(2)});
  first.come(20);
  second.come(10);
  second.held_up = true;
  receive({});
  inputs().hurry();
  receive(seconds(1));
  EXPECT_FALSE(ready_second(20));
  receive(seconds(2));
  EXPECT_TRUE(ready_second(20));
}

TEST_F(LiveInputsTest, ProgressOnAnyRankKeepsTheSliceOpen) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  receive({});
  inputs().set_others({.frontier = 12});
  receive(milliseconds(500));
  inputs().set_others({.frontier = 13});
  receive(milliseconds(1400));
  EXPECT_FALSE(ready_first(20));
}

/// The sender holds back data for longer than the silence.
TEST_F(LiveInputsTest, QuietGetsLongerWhenASourceSendsWhatWasPassed) {
  begin({.epoch_timeout = seconds(2), .quiet = seconds(1)});
  first.come(10);
  second.come(10);
  receive({});
  ++first.late_passed;
  receive(seconds(1));
  EXPECT_EQ(reports("source 3 (first) was silent"), 1U);
  EXPECT_FALSE(ready_first(11));
  receive(seconds(2));
  EXPECT_TRUE(ready_first(11));
}

TEST_F(LiveInputsTest, WithoutATimeoutNothingIsGivenUp) {
  begin({.epoch_timeout = {}});
  first.come(10);
  receive({});
  receive(std::chrono::hours(10));
  EXPECT_FALSE(ready_second(1));
}

/// The last data of the others came soon after their previous ones; nothing follows.
TEST_F(LiveInputsTest, ABurstMakesEverythingItPassedOverdue) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  first.come(1000);
  receive(milliseconds(1));
  first.ended = true;
  for (int turn = 1; turn <= 100; ++turn) receive(turn * milliseconds(100));
  EXPECT_TRUE(ready_second(1000));
}

TEST_F(LiveInputsTest, AnAbsentSourceIsNotWaitedFor) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  receive(seconds(2));
  EXPECT_TRUE(ready_second(10));
  EXPECT_FALSE(ready_second(20)) << "no source has passed it";
  first.come(20);
  receive(milliseconds(2001));
  EXPECT_TRUE(ready_second(20));
  EXPECT_EQ(second.given_up, (GivenUp{{10, true}, {20, true}}));
  EXPECT_EQ(reports("source 4"), 1U) << "once";
}

TEST_F(LiveInputsTest, ASourceThatHasCaughtUpIsWaitedForAgain) {
  begin({.epoch_timeout = seconds(2)});
  for (int second_of_time = 0; second_of_time <= 10; ++second_of_time) {
    first.come(static_cast<Epoch>(second_of_time) * 10);
    receive(seconds(second_of_time));
  }
  EXPECT_TRUE(ready_second(80));
  EXPECT_EQ(reports("is back"), 0U);
  second.come(70);
  receive(milliseconds(10'001));
  EXPECT_EQ(reports("is back"), 0U) << "others were there more than two seconds ago";
  EXPECT_TRUE(ready_second(100)) << "still absent";
  second.come(80);
  first.come(110);
  receive(milliseconds(10'002));
  EXPECT_EQ(reports("source 4 (second) is back at epoch 80"), 1U);
  EXPECT_FALSE(ready_second(110));
  receive(milliseconds(10'100));
  receive(milliseconds(12'100));
  EXPECT_TRUE(ready_second(110));
}

/// Sources without a common pace may be far apart: that loses no data unless memory runs out.
TEST_F(LiveInputsTest, ASourceThatMakesProgressIsWaitedForUntilAnotherIsFull) {
  begin({.epoch_timeout = seconds(2)});
  first.come(1000);
  for (int time = 0; time <= 10; ++time) {
    second.come(static_cast<Epoch>(time) + 1);
    receive(seconds(time));
    EXPECT_FALSE(ready_second(100)) << time;
  }
  inputs().set_others({.frontier = 1000, .any_full = true});
  EXPECT_TRUE(ready_second(100));
}

/// A source with a wrong clock does not measure time for the others and is not waited for.
TEST_F(LiveInputsTest, ASourceThatJumpsIsSetAside) {
  begin({.epoch_timeout = {}, .epochs_per_second = 100});
  first.come(10);
  second.come(10);
  receive({});
  second.jumped = Epoch(1'000'000);
  first.come(20);
  receive(milliseconds(1));
  EXPECT_EQ(reports("source 4 (second) jumps from epoch 10 to 1000000"), 1U);
  EXPECT_EQ(inputs().received(), Epoch(20));
  EXPECT_TRUE(ready_second(20));
  EXPECT_FALSE(ready_second(21)) << "no source has passed it";
  EXPECT_EQ(second.given_up, (GivenUp{{20, true}}));
  EXPECT_EQ(inputs().votes().in_step, 1U);
  EXPECT_EQ(majority(inputs().votes()), Epoch(0));
  second.jumped.reset();
  second.come(25);
  receive(milliseconds(2));
  EXPECT_EQ(reports("source 4 (second) is back at epoch 25"), 1U);
  EXPECT_FALSE(ready_second(26));
}

TEST_F(LiveInputsTest, ASourceThatKeepsJumpingIsReportedTenTimes) {
  begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
  first.come(10);
  second.come(10);
  receive({});
  for (int time = 1; time <= 50; ++time) {
    second.jumped = Epoch(1'000'000);
    receive(milliseconds(2 * time));
    second.jumped.reset();
    receive(milliseconds(2 * time + 1));
  }
  EXPECT_EQ(reports("source 4 (second)"), 20U) << "with its returns";
}

TEST_F(LiveInputsTest, AJumpIsAcceptedWhereNoOtherSourceIsElsewhere) {
  begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
  first.come(10);
  second.come(10);
  receive({});
  second.jumped = Epoch(1'000'000);
  receive(milliseconds(1));
  EXPECT_EQ(majority(inputs().votes()), Epoch(0));
  first.ended = true;
  const auto jump = majority(inputs().votes());
  EXPECT_EQ(jump, Epoch(1'000'000));
  inputs().set_others({.frontier = 10, .jump = jump});
  EXPECT_EQ(second.expected, Epoch(1'000'000));
}

/// Of two sources that have jumped to different places, only the one at the accepted place continues.
TEST_F(LiveInputsTest, AJumpToAnotherPlaceThanTheAcceptedOneIsNot) {
  constexpr Epoch kAccepted = 1'000'000;
  constexpr Epoch kNear = 60 * 100;
  for (const Epoch place : {kAccepted - kNear - 1, kAccepted - kNear, kAccepted + kNear, kAccepted + kNear + 1}) {
    begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
    first.come(10);
    second.come(10);
    receive({});
    second.jumped = place;
    receive(milliseconds(1));
    inputs().set_others({.frontier = 10, .jump = kAccepted});
    const bool near = place >= kAccepted - kNear && place <= kAccepted + kNear;
    EXPECT_EQ(second.expected == place, near) << place.value;
    second.jumped.reset();
  }
}

TEST_F(LiveInputsTest, ASourceThatHasJumpedBackHasAVote) {
  begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
  first.come(1000);
  second.come(1000);
  receive({});
  first.jumped = Epoch(10);
  second.jumped = Epoch(1'000'000);
  receive(milliseconds(1));
  EXPECT_EQ(majority(inputs().votes()), Epoch(0)) << "one of two is not more than half";
}

/// All sources but one jump: the run does not wait for that one, although it makes progress.
TEST_F(LiveInputsTest, ASourceThatDoesNotJumpWithTheOthersIsLeftBehind) {
  begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
  for (int time = 0; time <= 5; ++time) {
    second.come(static_cast<Epoch>(time) + 1);
    receive(seconds(time));
    inputs().set_others({.frontier = 1'000'000, .jump = 1'000'000});
  }
  EXPECT_TRUE(ready_second(1000));
}

TEST_F(LiveInputsTest, TimePassesForASilentSource) {
  begin({.epoch_timeout = seconds(2), .epochs_per_second = 100});
  second.come(10);
  receive({});
  receive(seconds(30));
  EXPECT_EQ(second.expected, Epoch(3010));
}

/// The end of a run does not wait for data that may never come, even if no source is ahead.
TEST_F(LiveInputsTest, HurryEndsAllWaits) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  second.come(10);
  receive({});
  receive(seconds(50));
  inputs().hurry();
  second.come(15);
  receive(milliseconds(51'499));
  EXPECT_FALSE(ready_first(20));
  EXPECT_FALSE(ready_second(20)) << "it is still sending";
  receive(milliseconds(51'500));
  EXPECT_TRUE(ready_first(20));
  EXPECT_TRUE(ready_second(20));
  EXPECT_EQ(first.given_up, (GivenUp{{20, true}})) << "the other source has data there";
  EXPECT_EQ(second.given_up, (GivenUp{{20, false}}));
  EXPECT_EQ(reports("caught up"), 0U);
}

TEST_F(LiveInputsTest, HurryEndsWaitsWithoutATimeout) {
  begin({.epoch_timeout = {}});
  receive({});
  inputs().hurry();
  receive(milliseconds(199));
  EXPECT_FALSE(ready_first(20));
  receive(milliseconds(200));
  EXPECT_TRUE(ready_first(20)) << "all are silent";
}

/// Data that a source still holds are delivered before it is given up, unless this takes too long.
TEST_F(LiveInputsTest, HurryWaitsForDataHeldBack) {
  begin({.epoch_timeout = seconds(2)});
  first.holds = true;
  receive({});
  inputs().hurry();
  receive(milliseconds(199));
  EXPECT_FALSE(ready_first(20));
  EXPECT_FALSE(first.finished) << "it may have more data";
  receive(milliseconds(200));
  EXPECT_FALSE(ready_first(20));
  EXPECT_TRUE(first.finished);
  receive(milliseconds(1199));
  EXPECT_FALSE(ready_first(20));
  EXPECT_TRUE(ready_second(20)) << "this source holds nothing back";
  receive(milliseconds(1200));
  EXPECT_TRUE(ready_first(20));
}

TEST_F(LiveInputsTest, HurryTakesReceivedData) {
  begin({.epoch_timeout = seconds(2)});
  first.come(20);
  receive({});
  inputs().hurry();
  receive(seconds(60));
  EXPECT_TRUE(ready_first(20));
  EXPECT_TRUE(first.given_up.empty());
}

/// The last data of a source may lie in epochs that are not complete: nothing of it is missing.
TEST_F(LiveInputsTest, HurryConsidersASourceAsFarAsTheOthersComplete) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  second.come(4);
  second.seen = 12;
  receive(seconds(1));
  inputs().hurry();
  receive(milliseconds(1250));
  receive(milliseconds(1500));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, false}}));
}

/// A source that the run has ended does not make the others lag behind it.
TEST_F(LiveInputsTest, HurryEndsSourcesOneAfterTheOther) {
  begin({.epoch_timeout = seconds(2), .passed_at_end = 5});
  first.come(10);
  receive({});
  second.come(10);
  receive(milliseconds(100));
  inputs().hurry();
  receive(milliseconds(350));
  EXPECT_TRUE(ready_first(11));
  first.ended = true;
  EXPECT_EQ(inputs().received(), Epoch(10));
  receive(milliseconds(600));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, false}}));
}

TEST_F(LiveInputsTest, AnOptionalSourceThatIsSilentIsNotWaitedFor) {
  second.be_optional();
  begin({.epoch_timeout = seconds(2)});
  second.come(3);
  first.come(10);
  receive({});
  receive(milliseconds(200));
  EXPECT_FALSE(ready_second(10));
  receive(milliseconds(260));
  EXPECT_TRUE(ready_second(10));
  EXPECT_FALSE(ready_second(11)) << "no source has passed it yet";
  EXPECT_EQ(second.settled, (std::vector<Epoch>{10}));
  EXPECT_TRUE(second.passed.empty()) << "--flush-after has nothing to do with it";
  EXPECT_TRUE(second.given_up.empty());
  first.come(20);
  receive(milliseconds(300));
  EXPECT_FALSE(ready_second(20)) << "its next data may be in flight";
  receive(milliseconds(350));
  EXPECT_TRUE(ready_second(20));
  second.come(21);
  first.come(30);
  receive(milliseconds(400));
  receive(milliseconds(500));
  EXPECT_FALSE(ready_second(30)) << "it is back";
}

TEST_F(LiveInputsTest, AnOptionalSourceDeliversWhatItHasReceivedFirst) {
  second.be_optional();
  begin({});
  first.come(10);
  second.holds = true;
  receive({});
  receive(milliseconds(260));
  EXPECT_FALSE(ready_second(10));
  receive(milliseconds(270));
  EXPECT_FALSE(ready_second(10));
  EXPECT_EQ(second.settled, (std::vector<Epoch>{10, 10}));
  second.holds = false;
  EXPECT_TRUE(ready_second(10));
}

TEST_F(LiveInputsTest, AnOptionalSourceIsNotMissingAtTheEnd) {
  second.be_optional();
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  inputs().hurry();
  receive(milliseconds(1600));
  EXPECT_TRUE(ready_second(11));
  EXPECT_EQ(second.given_up, (GivenUp{{11, false}}));
}

TEST_F(LiveInputsTest, NumbersAreExpectedWhereTheOthersAre) {
  begin({.epoch_timeout = seconds(2)});
  first.come(10);
  receive({});
  receive(milliseconds(1));
  EXPECT_EQ(second.expected, Epoch(10));
}

TEST_F(LiveInputsTest, SilenceIsReportedAgainWhenItHasDoubled) {
  begin({.epoch_timeout = {}, .stall_warning = seconds(10)});
  std::vector<int> reported_at;
  for (int time = 0; time <= 100; ++time) {
    first.come(static_cast<Epoch>(time) + 1);
    receive(seconds(time));
    if (reports("source 4 (second) has sent nothing") != 0) reported_at.push_back(time);
  }
  EXPECT_EQ(reported_at, (std::vector{10, 20, 40, 80}));
  second.come(1);
  receive(seconds(101));
  receive(seconds(110));
  EXPECT_EQ(reports("source 4"), 0U);
  receive(seconds(111));
  EXPECT_EQ(reports("source 4"), 1U) << "it is silent again";
}

TEST_F(LiveInputsTest, SilenceIsNotReportedAfterTheEndOrWithoutStallWarning) {
  begin({.epoch_timeout = {}, .stall_warning = seconds(10)});
  first.ended = second.ended = true;
  receive({});
  receive(seconds(100));
  EXPECT_EQ(reports("source"), 0U);
  first.ended = second.ended = false;
  begin({.epoch_timeout = {}, .stall_warning = {}});
  receive({});
  receive(seconds(100));
  EXPECT_EQ(reports("source"), 0U);
}

}  // namespace
}  // namespace eventloom
