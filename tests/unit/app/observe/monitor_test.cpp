#include "app/observe/monitor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "app/observe/access.hpp"
#include "app/observe/http_client.hpp"
#include "app/observe/progress.hpp"
#include "app/observe/prometheus_text.hpp"
#include "app/observe/status_document.hpp"
#include "core/monitor/telemetry_message.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

using std::chrono::seconds;

/// The picture of a rank that has reported at this time.
RunPicture picture_of(std::uint64_t hits, std::uint64_t bytes, int second = 1) {
  RankRecord record;
  record.head.slices_sent = hits;
  record.head.slices_expected = 100;
  record.counters[Metric::hits_in] = hits;
  record.of_sources[0][Metric::dead_time_ns] = 1'500'000'000;
  record.sources[0] = {0, SourceState::live, hits, bytes};
  record.builders[0] = {0, 0, 1, 2, hits, 500'000'000};
  record.links[0] = {0, 2, 8, 0, bytes};
  record[HistogramKind::multiplicity].add(4);
  RunPicture picture(1);
  picture.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(second)));
  return picture;
}

RunDescription description() {
  RunDescription run;
  run.sources = {"a\"b\\c\nd\xff"};
  run.roles.builders = 1;
  run.ranks = {{"n1", "source 0; builder 0"}};
  return run;
}

TEST(PrometheusText, EscapesLabels) {
  EXPECT_EQ(escaped_label("plain {}=,"), "plain {}=,");
  EXPECT_EQ(escaped_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(escaped_label("\xff"), "\xef\xbf\xbd");
}

TEST(PrometheusText, NamesEachMetricOnce) {
  RunTracker tracker({}, {});
  const auto text =
      prometheus_text(description(), *tracker.take(RunTracker::Time(seconds(1)), picture_of(50, 4096), {"running"}));
  EXPECT_NE(text.find("# TYPE eventloom_hits_in_total counter\neventloom_hits_in_total 50\n"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("eventloom_source_dead_time_seconds_total{source=\"0\",name=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 1.5\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("eventloom_ring_fill_ratio{from_rank=\"0\",builder=\"0\"} 0.25\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("# TYPE eventloom_hits_in_total"), text.rfind("# TYPE eventloom_hits_in_total"));
}

std::string metrics_text(const RankRecord& record, RunDescription run) {
  RunSnapshot snapshot;
  snapshot.now = RunPicture(1);
  snapshot.now.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
  return prometheus_text(run, snapshot);
}

TEST(PrometheusText, HistogramsAreCumulativeAndExact) {
  RankRecord record;
  for (const std::uint64_t hits : {1, 4, 4, 7, 9, 12, 5000}) record[HistogramKind::multiplicity].add(hits);
  for (const std::uint64_t ticks : {0, 15, 16, 255, 256}) record[HistogramKind::duration].add(ticks);
  auto run = description();
  run.tick_ps = 500;
  const auto text = metrics_text(record, run);
  for (const char* line :
       {"# TYPE eventloom_event_hits histogram\n", "eventloom_event_hits_bucket{le=\"1\"} 1\n",
        "eventloom_event_hits_bucket{le=\"3\"} 1\n", "eventloom_event_hits_bucket{le=\"4\"} 3\n",
        "eventloom_event_hits_bucket{le=\"7\"} 4\n", "eventloom_event_hits_bucket{le=\"9\"} 5\n",
        "eventloom_event_hits_bucket{le=\"11\"} 5\n", "eventloom_event_hits_bucket{le=\"15\"} 6\n",
        "eventloom_event_hits_bucket{le=\"+Inf\"} 7\n", "eventloom_event_hits_count 7\n",
        "eventloom_event_hits_sum 5037\n", "eventloom_event_duration_seconds_bucket{le=\"7.5e-09\"} 2\n",
        "eventloom_event_duration_seconds_bucket{le=\"1.275e-07\"} 4\n", "eventloom_event_duration_seconds_sum 2.71",
        "eventloom_event_latency_seconds_count 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(PrometheusText, AlarmsAreEscaped) {
  RunSnapshot snapshot;
  snapshot.alarms = {{"a\"b\\c\nd<0", true, "2026-11-22T18:31:48Z", 1.5}, {"lost>0", false, "", std::nullopt}};
  const auto text = prometheus_text(description(), snapshot);
  EXPECT_NE(text.find("eventloom_alarm_active{condition=\"a\\\"b\\\\c\\nd<0\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("eventloom_alarm_active{condition=\"lost>0\"} 0\n"), std::string::npos) << text;
  const auto json = status_document(description(), snapshot, {}, {});
  EXPECT_EQ(json["alarms"][0]["condition"], "a\"b\\c\nd<0");
  EXPECT_EQ(json["alarms"][1]["raised"], nullptr);
  EXPECT_EQ(json["alarms"][1]["value"], nullptr);
}

/// Ranks report once a second, and snapshots are taken at other times.
TEST(RunTracker, RatesGoByTheTimesOfTheReports) {
  RunTracker tracker({}, {});
  std::vector<double> rates;
  const auto at = [&](double second, std::uint64_t hits, int reported) {
    const auto now = RunTracker::Time(std::chrono::milliseconds(static_cast<int>(1000 * second)));
    rates.push_back(tracker.take(now, picture_of(hits, 0, reported), {"running"})->figures.hits_per_s);
  };
  at(10.1, 100, 10);
  at(11.9, 200, 11);
  at(12.0, 300, 12);
  at(13.0, 400, 13);
  at(14.5, 700, 14);
  at(15.0, 700, 14);
  EXPECT_EQ(rates, (std::vector<double>{0, 100, 100, 100, 500.0 / 3, 200}));
}

TEST(RunTracker, RatesAreOfTheTimeBetweenSnapshots) {
  RunTracker tracker(seconds(100), {{Metric::hits_in, 1000}});
  const RunTracker::Time begin(seconds(1000));
  const auto first = tracker.take(begin, picture_of(10, 0, 1000), {"running"});
  EXPECT_EQ(first->figures.hits_per_s, 0);
  EXPECT_FALSE(tracker.due(begin + std::chrono::milliseconds(900)));
  const auto second = tracker.take(begin + seconds(2), picture_of(50, 4096, 1002), {"running"});
  EXPECT_EQ(second->figures.hits_per_s, 20);
  EXPECT_EQ(second->totals[Metric::hits_in], 1050U);
  EXPECT_EQ(second->figures.share, 0.5);
  EXPECT_EQ(second->figures.remaining_s, 2);
  const auto json = status_document(description(), *second, {}, {});
  EXPECT_EQ(json["sources"][0]["bytes_per_s"], 2048);
  EXPECT_EQ(json["links"]["fill"][0][0], 0.25);
  EXPECT_EQ(json["histograms"]["multiplicity"]["counts"], Json::parse("[1]"));
  EXPECT_FALSE(Json::try_parse(to_text(json)).is_null());
}

/// Ranks do not all report at once: the first report of a rank counts since the beginning.
TEST(RunTracker, RatesOfTheFirstSecondsAreThoseOfAllRanks) {
  RunTracker tracker({}, {});
  const auto at = [](int second) { return RunTracker::Time(seconds(second)); };
  const auto report = [](std::uint64_t hits) {
    RankRecord record;
    record.counters[Metric::hits_in] = hits;
    return encode_telemetry(record, {});
  };
  RunPicture picture(2);
  EXPECT_EQ(tracker.take(at(10), picture, {"running"})->figures.hits_per_s, 0);
  picture.take(0, report(300), at(11));
  EXPECT_EQ(tracker.take(at(11), picture, {"running"})->figures.hits_per_s, 300);
  picture.take(1, report(1000), at(12));
  EXPECT_EQ(tracker.take(at(12), picture, {"running"})->figures.hits_per_s, 300 + 500);
}

TEST(RunTracker, PausesDoNotCountForTheTimeThatIsLeft) {
  RunTracker tracker({}, {});
  const auto left = [&](int second, std::uint64_t share, const char* state) {
    const RunTracker::Time now{seconds(second)};
    return tracker.take(now, picture_of(share, 0, second), {state})->figures.remaining_s.value_or(-1);
  };
  left(10, 0, "running");
  EXPECT_DOUBLE_EQ(left(12, 20, "running"), 8);
  EXPECT_DOUBLE_EQ(left(17, 20, "paused"), 8);
  EXPECT_DOUBLE_EQ(left(22, 20, "paused"), 8);
  EXPECT_DOUBLE_EQ(left(24, 40, "running"), 6);
}

TEST(RunTracker, ARunThatWasStoppedIsNotDone) {
  for (const bool stopped : {false, true}) {
    RunTracker tracker({}, {});
    (void)tracker.take(RunTracker::Time(seconds(1)), picture_of(20, 0), {"running"});
    const auto end = tracker.conclude(picture_of(100, 0), {}, stopped ? kExitStopped : kExitOk, "");
    EXPECT_EQ(end->figures.share, stopped ? 0.2 : 1);
  }
}

TEST(RunTracker, FailureKeepsTheFigures) {
  RunTracker tracker({}, {});
  EXPECT_EQ(tracker.fail(2, "no disk")->condition.state, "failed") << "before the first turn";
  (void)tracker.take(RunTracker::Time(seconds(1)), picture_of(50, 4096), {"running"});
  const auto waits =
      tracker.take(RunTracker::Time(seconds(2)), picture_of(50, 4096), {"running", "", {{0}, seconds(3)}});
  EXPECT_EQ(status_document(description(), *waits, {}, {})["ranks"][0]["silent_s"], 3);
  const auto failed = tracker.fail(2, "no disk");
  const auto json = status_document(description(), *failed, {}, {});
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["message"], "no disk");
  EXPECT_EQ(json["run"]["exit_code"], 2);
  EXPECT_EQ(json["ledger"]["hits_in"], 50);
}

TEST(RunSeries, StaysBounded) {
  RunSeries series;
  for (int i = 0; i < 10'000; ++i) series.add({static_cast<double>(i), {}});
  EXPECT_LE(series.moments.size(), RunSeries::kMost);
  EXPECT_GT(series.moments.size(), RunSeries::kMost / 3);
  for (std::size_t i = 0; i < series.moments.size(); ++i) {
    EXPECT_EQ(series.moments[i].elapsed_s, static_cast<double>(i * series.stride));
  }
}

TEST(Percentile, IsAtMostAQuarterAbove) {
  LogHistogram histogram;
  EXPECT_FALSE(percentile(histogram, 0.5));
  for (std::uint64_t i = 1; i <= 1000; ++i) histogram.add(i);
  EXPECT_GE(*percentile(histogram, 0.5), 500);
  EXPECT_LE(*percentile(histogram, 0.5), 640);
  EXPECT_GE(*percentile(histogram, 0.99), 990);
}

HttpRequest request() {
  HttpRequest request;
  request.host = "127.0.0.1:8080";
  request.local = "127.0.0.1";
  return request;
}

TEST(Access, HostMustBeKnown) {
  auto asked = request();
  EXPECT_FALSE(refuse_host(asked));
  asked.host = "LOCALHOST:1";
  EXPECT_FALSE(refuse_host(asked));
  asked.host = "[::1]:8080";
  EXPECT_TRUE(refuse_host(asked));
  asked.local = "::1";
  EXPECT_FALSE(refuse_host(asked));
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil:1", ":", "["}) {
    asked.host = host;
    EXPECT_TRUE(refuse_host(asked)) << host;
  }
}

TEST(Access, ChangesNeedTheToken) {
  auto asked = request();
  EXPECT_EQ(refuse_change(asked, "secret")->status, 401U);
  for (const char* wrong : {"Bearer ", "Bearer secre", "Bearer secrets", "secret", "Basic secret"}) {
    asked.authorization = wrong;
    EXPECT_EQ(refuse_change(asked, "secret")->status, 403U) << wrong;
  }
  asked.authorization = "Bearer secret";
  EXPECT_FALSE(refuse_change(asked, "secret"));
  asked.origin = "http://127.0.0.1:8080";
  EXPECT_FALSE(refuse_change(asked, "secret"));
  asked.origin = "null";
  EXPECT_EQ(refuse_change(asked, "secret")->status, 403U);
}

TEST(Addresses, AreParsed) {
  EXPECT_EQ(parse_monitor_address("8080").place.address, "127.0.0.1");
  EXPECT_EQ(parse_monitor_address("[::]:0").place.address, "::");
  EXPECT_EQ(parse_monitor_address("0.0.0.0:65535").place.port, 65535);
  for (const char* wrong : {"", ":", "x", "65536", "1.2.3.4:", "-1", ":80", "80x", "[::1", "[::1:80"}) {
    EXPECT_THROW(parse_monitor_address(wrong), UserError) << wrong;
  }
  EXPECT_EQ(parse_monitor_url("http://[::1]:80/").host, "::1");
  EXPECT_EQ(parse_monitor_url("n1:80").port, "80");
  for (const char* wrong : {"", "http://", "n1", "n1:http", "https://n1:1x"}) {
    EXPECT_THROW(parse_monitor_url(wrong), UserError) << wrong;
  }
}

TEST(Progress, NumbersHavePrefixes) {
  EXPECT_EQ(scaled(0), "0");
  EXPECT_EQ(scaled(999), "999");
  EXPECT_EQ(scaled(1234), "1.2 k");
  EXPECT_EQ(scaled(82'100'000), "82.1 M");
  EXPECT_EQ(scaled(999'999), "1.0 M");
}

}  // namespace
}  // namespace eventloom
