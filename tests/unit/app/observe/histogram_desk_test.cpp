#include "app/observe/histogram_desk.hpp"

#include <gtest/gtest.h>

#include "core/runtime/json.hpp"

namespace eventloom {
namespace {

HistogramRecord histogram_without_counts() { return {"size", "", {{"n_hits", "\xff\"<", {0, 1, 2}}}, {}, 0, 0}; }

Json answer_of(HistogramDesk& desk) { return Json::parse(*desk.text_of("size")); }

TEST(HistogramDesk, KnowsItsHistograms) {
  HistogramDesk desk;
  EXPECT_EQ(desk.text_of("size"), nullptr);
  EXPECT_EQ(Json::parse(desk.list_text()), Json::parse(R"({"histograms": []})"));
  desk.open({histogram_without_counts()});
  EXPECT_EQ(desk.text_of("siz"), nullptr);
  EXPECT_EQ(desk.text_of(""), nullptr);
  const auto axis = Json::parse(desk.list_text())["histograms"][0]["axes"][0];
  EXPECT_EQ(axis["unit"], "\xef\xbf\xbd\"<");
  EXPECT_EQ(axis["bins"], 2);
}

TEST(HistogramDesk, TakesWhatIsAskedForOnce) {
  HistogramDesk desk;
  desk.open({histogram_without_counts()});
  EXPECT_TRUE(desk.take_asked().empty());
  EXPECT_EQ(answer_of(desk)["counts"], nullptr);
  EXPECT_EQ(desk.take_asked(), std::vector<std::size_t>{0});
  EXPECT_TRUE(desk.take_asked().empty());
}

TEST(HistogramDesk, AnswersWithTheLastCounts) {
  HistogramDesk desk;
  desk.open({histogram_without_counts()});
  EXPECT_EQ(answer_of(desk)["final"], false);
  auto counted = histogram_without_counts();
  counted.counts = {3, 4};
  counted.overflow = 5;
  desk.put(0, {std::make_shared<const HistogramRecord>(counted), "2026-11-22T18:31:48Z", true});
  const auto answer = answer_of(desk);
  EXPECT_EQ(answer["counts"], (std::vector<int>{3, 4}));
  EXPECT_EQ(answer["entries"], 12);
  EXPECT_EQ(answer["time"], "2026-11-22T18:31:48Z");
  EXPECT_EQ(answer["final"], true);
  EXPECT_EQ(desk.text_of("size"), desk.text_of("size")) << "the text is generated once";
}

}  // namespace
}  // namespace eventloom
