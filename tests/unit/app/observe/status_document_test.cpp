#include "app/observe/status_document.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <memory>

#include "app/observe/rank_remarks.hpp"
#include "core/monitor/telemetry_message.hpp"

namespace eventloom {
namespace {

using std::chrono::seconds;

Json document_of(const RunPicture& picture, const std::vector<ClockQuality>& clocks = {},
                 const DetectorRecord& detector = {}) {
  RunTracker tracker({}, {});
  const auto snapshot = tracker.take(RunTracker::Time(seconds(1)), picture, {"running"});
  snapshot->clocks = clocks;
  RunDescription run;
  run.roles.filters = 1;
  run.known = KnownChannels(detector);
  if (!run.known.empty()) run.detector = std::make_shared<const Json>(detector_facts(run.known));
  const auto text = to_text(status_document(run, *snapshot, {}, {}));
  return Json::parse(text);
}

TEST(StatusDocument, HasChannelsFiltersAndClocks) {
  RankRecord record;
  record.writers[0] = {0, 0, 4, 11, 30, 2};
  record.channels = {{1, 0xfffffff, 4}, {0, 7, 2}, {0, ChannelRow::kOthers, 9}, {0, 3, 1}};
  RunPicture picture(1);
  picture.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
  const auto json = document_of(picture, {{}, {-5, 1.5, 2, std::numeric_limits<double>::infinity(), 0, 100}});
  EXPECT_EQ(json["channels"], Json::parse(R"([{"source":0,"channel":[3,7],"hits":[1,2],"others":9},
                                                    {"source":1,"channel":[268435455],"hits":[4],"others":0}])"));
  EXPECT_EQ(json["clocks"][1], Json::parse(R"({"rank":1,"offset_ns":-5.0,"precision_ns":null,"rate_ppm":1.5,
                                                     "residual_ns":2.0,"round_trips":100})"));
  EXPECT_EQ(json["filters"][0]["accepted"], 11);
  EXPECT_EQ(json["filters"][0]["rejected"], 2);
}

/// A second later nothing has changed.
TEST(StatusDocument, APausedRunHasNoRate) {
  RunTracker tracker({}, {});
  RunPicture picture(1);
  RankRecord reported;
  std::shared_ptr<RunSnapshot> snapshot;
  const auto look = [&](int second, std::uint64_t hits, const char* state) {
    RankRecord record;
    record.counters[Metric::hits_in] = record.counters[Metric::hits_read] = hits;
    record.builders[0] = {0, 0, 0, 0, hits, 0};
    picture.take(0, encode_telemetry(record, reported), RunPicture::Time(seconds(second)));
    reported = record;
    snapshot = tracker.take(RunTracker::Time(seconds(second)), picture, {state});
    return snapshot->figures.hits_per_s;
  };
  look(1, 1000, "running");
  EXPECT_EQ(look(2, 2000, "running"), 1000);
  EXPECT_EQ(look(3, 3000, "paused"), 1000);
  EXPECT_EQ(look(4, 3000, "paused"), 0);
  EXPECT_EQ(status_document({}, *snapshot, {}, {})["builders"][0]["hits_per_s"], 0);
}

/// Events come from several writers, the latest of each first.
TEST(StatusDocument, LatestEventsAreThoseOfTheLatestTimes) {
  RunPicture picture(2);
  for (std::uint64_t n = 0; n < 40; ++n) {
    RankRecord record;
    const auto time = 100 * (n / 4) + 4 - n % 4;
    record.events.push_back({{time, 0, n / 4, 0, 1, 1, 0}, {{0, 5, 3, 0, {0}}}});
    picture.take(static_cast<int>(n / 4 % 2), encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
  }
  const auto json = document_of(picture)["events"];
  ASSERT_EQ(json.size(), RunPicture::kMostEvents);
  EXPECT_EQ(json.front()["time"], "501");
  EXPECT_EQ(json.back()["time"], "904");
}

TEST(StatusDocument, EventsHavePayloadWhereTheRunHas) {
  RankRecord record;
  record.events.push_back({{1000, 20, 1, 0, 2, 2, 1}, {{0, 5, 3, 2, {77}}, {20, 6, 3, 0, {0}}}});
  record.events.push_back({{2000, 0, 1, 0, 1, 1, 0}, {{0, 5, 3, 0, {0}}}});
  RunPicture picture(1);
  picture.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
  const auto json = document_of(picture);
  EXPECT_EQ(json["events"][0]["hits"]["payload"], Json::parse("[77, null]"));
  EXPECT_FALSE(json["events"][1]["hits"].contains("payload"));
}

TEST(StatusDocument, HasNamesAndGroupsOfTheDetector) {
  DetectorRecord detector;
  detector.file = "map.csv";
  detector.map = "a text";
  constexpr double kNoBound = std::numeric_limits<double>::infinity();
  detector.ranges.push_back({0, 3, 4, 5, false, -kNoBound, kNoBound, "B;A", "PMT"});
  detector.ranges.push_back({1, 0, 6, -1, true, -kNoBound, kNoBound, "", ""});
  detector.ranges.push_back({1, 7, 0xfffffff, 0, true, 9, kNoBound, "B", ""});
  RankRecord record;
  record.channels = {{1, 7, 4}, {0, 5, 2}, {0, ChannelRow::kOthers, 9}, {0, 3, 1}};
  record.events.push_back({{1000, 20, 1, 0, 2, 2, 0}, {{0, 3, 0, 0, {0}}, {20, 6, 3, 0, {0}}}});
  RunPicture picture(1);
  picture.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
  const auto json = document_of(picture, {}, detector);
  EXPECT_EQ(json["setup"]["detector"], Json::parse(R"({"file":"map.csv","groups":["A","B"],
      "masked":{"channels":0,"open":1},"cut":{"channels":0,"open":1},"with_offset":{"channels":9,"open":0}})"));
  EXPECT_EQ(json["groups"], Json::parse(R"({"name":["A","B"],"hits":[1,5],"none":2,"unknown":9})"));
  EXPECT_EQ(json["channels"][0]["name"], Json::parse(R"(["PMT",""])"));
  EXPECT_FALSE(json["channels"][1].contains("name"));
  EXPECT_EQ(json["events"][0]["hits"]["name"], Json::parse(R"(["PMT",""])"));
  EXPECT_EQ(json["events"][0]["hits"]["group"], Json::parse(R"(["B;A",""])"));
  const auto without = document_of(picture);
  EXPECT_FALSE(without.contains("groups") || without["setup"].contains("detector"));
  EXPECT_FALSE(without["events"][0]["hits"].contains("name") || without["events"][0]["hits"].contains("group"));
}

/// A histogram with bins of width one has a linear axis.
TEST(StatusDocument, HistogramsOfSmallNumbersAreLinear) {
  for (const std::uint64_t greatest : {127, 128}) {
    RankRecord record;
    record[HistogramKind::multiplicity].add(1);
    record[HistogramKind::multiplicity].add(greatest);
    RunPicture picture(1);
    picture.take(0, encode_telemetry(record, {}), RunPicture::Time(seconds(1)));
    const auto histogram = document_of(picture)["histograms"]["multiplicity"];
    EXPECT_EQ(histogram["log_x"], greatest == 128);
    EXPECT_EQ(histogram["counts"].size(), greatest == 128 ? 128 : 127);
    EXPECT_EQ(histogram["edges"][0], 0.5);
    EXPECT_EQ(histogram["edges"][126], 126.5);
    EXPECT_EQ(histogram["edges"].back(), greatest == 128 ? 159.5 : 127.5);
  }
}

/// Two ranks with sources, whose rings to two builders on ranks 2 and 3 stay filled by `fill` percent.
std::vector<std::string> remarks_of(const std::array<std::array<std::uint32_t, 2>, 2>& fill,
                                    const std::array<double, 2>& busy, const std::string& state = "running") {
  RunDescription run;
  run.ranks.resize(4);
  RunTracker tracker({}, {});
  RunPicture picture(4);
  std::vector<RankRecord> reported(4);
  std::vector<std::string> remarks;
  for (int second = 1; second <= 3; ++second) {
    const RunTracker::Time now{seconds(second)};
    for (std::uint32_t r = 0; r < 4; ++r) {
      RankRecord record;
      const auto busy_ns = static_cast<std::uint64_t>(1e9 * busy[r % 2] * second);
      if (r >= 2) record.builders[r - 2] = {r - 2, 0, 0, 0, 0, busy_ns};
      for (std::uint32_t b = 0; r < 2 && b < 2; ++b) record.links[b] = {b, fill[r][b], 100, 0, 0};
      picture.take(static_cast<int>(r), encode_telemetry(record, reported[r]), now);
      reported[r] = record;
    }
    remarks = rank_remarks(run, *tracker.take(now, picture, {state}));
  }
  return remarks;
}

TEST(RankRemarks, NameWhatIsSlow) {
  using Remarks = std::vector<std::string>;
  const Remarks none(4);
  EXPECT_EQ(remarks_of({{{50, 50}, {50, 50}}}, {0.4, 0.4}), none);
  EXPECT_EQ(remarks_of({{{100, 100}, {100, 100}}}, {0.9, 0.9}), none) << "none is slower than the other";
  EXPECT_EQ(remarks_of({{{0, 0}, {0, 0}}}, {0, 0}), none);
  EXPECT_EQ(remarks_of({{{0, 95}, {10, 95}}}, {0.4, 0.4}, "paused"), none);
  const Remarks slow_rings{"", "", "", "builder 1 is slow: its rings are full, those of others are not"};
  EXPECT_EQ(remarks_of({{{0, 95}, {10, 95}}}, {0.4, 0.4}), slow_rings);
  EXPECT_EQ(remarks_of({{{0, 95}, {10, 80}}}, {0.4, 0.4}), none);
  const Remarks busy{"", "", "builder 0 is slow: it is busy, the others wait", ""};
  EXPECT_EQ(remarks_of({{{50, 50}, {50, 50}}}, {0.95, 0.1}), busy);
  EXPECT_EQ(remarks_of({{{50, 50}, {50, 50}}}, {0.95, 0.6}), none);
  const Remarks source{"", "its sources are slow: the builders wait for them, and have data of all others", "", ""};
  EXPECT_EQ(remarks_of({{{60, 70}, {0, 10}}}, {0.1, 0.1}), source);
  EXPECT_EQ(remarks_of({{{60, 70}, {0, 10}}}, {0.1, 0.6}), none) << "a builder has work to do";
  EXPECT_EQ(remarks_of({{{60, 40}, {0, 10}}}, {0.1, 0.1}), none);
}

TEST(RankRemarks, NameWhoIsSilent) {
  RunTracker tracker({}, {});
  RunDescription run;
  run.ranks.resize(1);
  const auto at = [&](int second) {
    const Heartbeat::Silence silence{{0}, seconds(second - 10)};
    return rank_remarks(run, *tracker.take(RunTracker::Time(seconds(second)), RunPicture(1), {"paused", "", silence}));
  };
  EXPECT_EQ(at(11), std::vector<std::string>{""});
  EXPECT_EQ(at(14), std::vector<std::string>{"silent for 4 s"});
}

}  // namespace
}  // namespace eventloom
