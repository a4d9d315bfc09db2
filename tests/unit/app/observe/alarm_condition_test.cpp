#include "app/observe/alarm_condition.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/monitor/telemetry_message.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

/// Two ranks, the second with source 3, observed once a second.
class Watched {
 public:
  Watched() : picture_(2) {
    records_[1].sources[3] = {3, SourceState::live, 0, 0};
    records_[0].counters = {{Metric::hits_in, 0}};
  }

  RankRecord& operator[](int rank) { return records_[rank]; }
  SourceRow& source() { return records_[1].sources[3]; }
  void be_silent(int rank) { silent_[rank] = true; }

  /// Observes a second later, after the reports of the ranks.
  std::shared_ptr<const RunSnapshot> look(const std::string& state = "running") {
    now_ += std::chrono::seconds(1);
    Heartbeat::Silence silence;
    for (int r = 0; r < 2; ++r) {
      const auto heard = now_ - std::chrono::milliseconds(100);
      if (!silent_[r]) picture_.take(r, encode_telemetry(records_[r], {}), heard);
      if (silent_[r]) silence = {{r}, now_ - picture_.heard(r)};
    }
    return tracker_.take(now_, picture_, {state, "", silence});
  }
  std::shared_ptr<const RunSnapshot> end(const Counters& totals) { return tracker_.conclude(picture_, totals, 0, ""); }

 private:
  RunTracker tracker_{{}, {}};
  RunTracker::Time now_{std::chrono::seconds(1000)};
  RunPicture picture_;
  RankRecord records_[2];
  bool silent_[2] = {};
};

std::optional<double> value(const char* condition, const RunSnapshot& snapshot) {
  return parse_alarm_condition(condition).value(snapshot);
}

std::string refusal(const std::string& text) {
  try {
    parse_alarm_condition(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(AlarmCondition, Compares) {
  struct Case {
    const char* text;
    bool below, at, above;  ///< the limit
  };
  for (const auto& [text, below, at, above] :
       {Case{"lost<5", true, false, false}, Case{"lost<=5", true, true, false}, Case{"lost>5", false, false, true},
        Case{"lost>=5", false, true, true}, Case{"lost==5", false, true, false}, Case{"lost!=5", true, false, true}}) {
    const auto condition = parse_alarm_condition(text);
    EXPECT_EQ(condition.holds(4), below) << text;
    EXPECT_EQ(condition.holds(5), at) << text;
    EXPECT_EQ(condition.holds(6), above) << text;
  }
}

TEST(AlarmCondition, UnderstandsUnitsAndBlanks) {
  EXPECT_EQ(parse_alarm_condition("stalled>5s").limit, 5);
  EXPECT_EQ(parse_alarm_condition("stalled>2500ms").limit, 2.5);
  EXPECT_EQ(parse_alarm_condition("stalled>1min").limit, 60);
  EXPECT_EQ(parse_alarm_condition("dead_time_ns>1ms").limit, 1e6);
  EXPECT_EQ(parse_alarm_condition("memory>=1GiB").limit, 1U << 30);
  EXPECT_EQ(parse_alarm_condition("ring_fill>90%").limit, 0.9);
  EXPECT_EQ(parse_alarm_condition("rate<1e6").limit, 1e6);
  const auto condition = parse_alarm_condition(" rate : 3 < 100 ");
  EXPECT_EQ(condition.text, "rate:3<100");
  EXPECT_EQ(condition.source, 3U);
  EXPECT_EQ(condition.unit, "hits/s");
}

TEST(AlarmCondition, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"",           "lost",
                           "lost>",      ">0",
                           "lost=>0",    "lost=0",
                           "lost<>0",    "lost>0>0",
                           "lost>x",     "lost>-1",
                           "lost>nan",   "lost>inf",
                           "lost>0x10",  "lost>0hits",
                           "lost>1s",    "stalled>5KiB",
                           "stalled>1s", "stalled:0>5s",
                           "rate:>1",    "rate:x>1",
                           "rate:-1>1",  "rate:4294967296>1",
                           "rate:1:2>1", "nothing>0",
                           "Lost>0",     "ring_fill:0>1"}) {
    const auto refused = refusal(text);
    EXPECT_TRUE(refused.starts_with("--alarm '" + std::string(text) + "': ")) << text << ": " << refused;
    EXPECT_EQ(refused.find('\n'), std::string::npos);
  }
}

TEST(AlarmCondition, TakesNothingButItsGrammar) {
  for (const char* text : {"lost>0;reboot", "lost>0\n", "$(reboot)>0", "lost>0#", "lost\x1b[2J>0", "rate:`id`<1",
                           "lost>0\"} 1\neventloom_up{x=\"", "<script>alert(1)</script>>0", "lost>0%s"}) {
    EXPECT_FALSE(refusal(text).empty()) << text;
  }
  EXPECT_THROW(parse_alarm_conditions({"lost>0", "lost > 0"}), UserError);
  EXPECT_THROW(require_alarm_sources(parse_alarm_conditions({"rate:2<1"}), 2), UserError);
  EXPECT_NO_THROW(require_alarm_sources(parse_alarm_conditions({"rate:1<1", "lost>0"}), 2));
}

TEST(AlarmCondition, CountsLosses) {
  Watched run;
  EXPECT_EQ(value("lost:3>0", *run.end({})), std::nullopt) << "nothing is known of the source";
  run[0].counters[dropped_hits(DropCause::late)] = 3;
  run[1].counters[dropped_hits(DropCause::corrupt)] = 4;
  run[0].of_sources[3][source_dropped_hits(DropCause::late)] = 3;
  const auto snapshot = run.look();
  EXPECT_EQ(value("lost>0", *snapshot), 7);
  EXPECT_EQ(value("lost:3>0", *snapshot), 3);
  EXPECT_EQ(value("hits_dropped_late>0", *snapshot), 3);
  EXPECT_EQ(value("hits_dropped_late:3>0", *snapshot), 3);
  EXPECT_EQ(value("missing_packets>0", *snapshot), 0);
  EXPECT_EQ(value("lost>0", *run.end({{dropped_hits(DropCause::lost), 9}})), 9) << "as in the summary";
}

TEST(AlarmCondition, RatesAreKnownAfterTwoReports) {
  Watched run;
  run.be_silent(1);
  EXPECT_EQ(value("rate<1", *run.look()), std::nullopt);
  EXPECT_EQ(value("rate:3<1", *run.look()), std::nullopt) << "its rank has not reported";

  Watched other;
  EXPECT_EQ(value("rate:3<1", *other.look()), std::nullopt) << "once";
  other.source().hits = 100;
  other[0].counters[Metric::hits_in] = 50;
  const auto snapshot = other.look();
  EXPECT_DOUBLE_EQ(value("rate:3<1", *snapshot).value(), 100);
  EXPECT_DOUBLE_EQ(value("rate<1", *snapshot).value(), 50);
}

TEST(AlarmCondition, RatesEndWithTheSourceAndTheRun) {
  Watched run;
  run.look();
  EXPECT_EQ(value("rate<1", *run.look()), 0);
  run.source().state = SourceState::ended;
  const auto snapshot = run.look();
  EXPECT_EQ(value("rate<1", *snapshot), std::nullopt);
  EXPECT_EQ(value("rate:3<1", *snapshot), std::nullopt);
  run.source().state = SourceState::live;
  EXPECT_EQ(value("rate:3<1", *run.look()), 0);
  for (const char* condition : {"rate<1", "rate:3<1", "stalled>5s", "ring_fill>1"}) {
    EXPECT_EQ(value(condition, *run.end({})), std::nullopt) << condition;
  }
}

TEST(AlarmCondition, APauseIsNoSlowRun) {
  Watched run;
  for (int second = 0; second < 3; ++second) run.look();
  for (int second = 0; second < 9; ++second) {
    const auto snapshot = run.look("paused");
    EXPECT_EQ(value("rate<1", *snapshot), std::nullopt);
    EXPECT_LT(value("stalled>5s", *snapshot).value(), 1);
  }
  EXPECT_EQ(value("rate<1", *run.look()), std::nullopt) << "most of it lies in the pause";
  for (int second = 0; second < 4; ++second) run.look();
  EXPECT_EQ(value("rate<1", *run.look()), 0);
}

TEST(AlarmCondition, StalledIsWithoutProgressOrReport) {
  Watched run;
  run.look();
  for (int second = 1; second < 9; ++second) {
    run[0].counters[Metric::slices] += 1;
    EXPECT_LT(value("stalled>5s", *run.look()).value(), 1);
  }
  for (int second = 1; second < 9; ++second) EXPECT_DOUBLE_EQ(value("stalled>5s", *run.look()).value(), second);
  run[0].counters[Metric::slices] += 1;
  run.be_silent(1);
  EXPECT_NEAR(value("stalled>5s", *run.look()).value(), 1.1, 0.01);
  run[0].counters[Metric::slices] += 1;
  EXPECT_NEAR(value("stalled>5s", *run.look()).value(), 2.1, 0.01);
}

TEST(AlarmCondition, ASilentRankDoesNothing) {
  Watched run;
  for (int second = 0; second < 4; ++second) {
    run.source().hits += 100;
    run.look();
  }
  run.be_silent(1);
  std::vector<std::optional<double>> rates;
  for (int second = 0; second < 5; ++second) rates.push_back(value("rate:3<1", *run.look()));
  EXPECT_GT(rates[0].value(), 50) << "by its own reports";
  EXPECT_EQ(rates[4], 0);
}

TEST(AlarmCondition, ValuesAreReadable) {
  EXPECT_EQ(alarm_value_text(12, "hits"), "12 hits");
  EXPECT_EQ(alarm_value_text(1e15, ""), "1000000000000000");
  EXPECT_EQ(alarm_value_text(1 / 3.0, "hits/s"), "0.3333 hits/s");
}

}  // namespace
}  // namespace eventloom
