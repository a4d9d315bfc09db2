#include "app/run/run_resume.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace eventloom {
namespace {

RunRecord record() {
  RunRecord record;
  record.setup = "source = file:a.epochs\n";
  record.definition = "gap:10,2";
  record.filters = {"n_hits>=8", "duration<500"};
  record.eventloom_version = "0.1.0";
  record.hosts = {"n1"};
  record.base = {500, 20000};
  record.epochs_per_slice = 16;
  record.overlap = 12345;
  record.sources.resize(2);
  record.sources[0].name = "a";
  record.sources[0].uri = "file:a.epochs";
  record.sources[0].input = {"/data/a.epochs", 1000, 0x0badcafe};
  record.sources[1].name = "b";
  record.sources[1].uri = "file:b.epochs";
  record.sources[1].input = {"/data/b.epochs", 2000, 0x12345678};
  return record;
}

/// The only difference that `change` causes, in words.
std::string difference(const std::function<void(RunRecord&)>& change) {
  auto now = record();
  change(now);
  const auto found = differences(record(), now);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? "" : found.front();
}

bool has(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (text.find(word) == std::string::npos) return false;
  }
  return text.find('\n') == std::string::npos;
}

TEST(Differences, NoneBetweenEqualRuns) { EXPECT_TRUE(differences(record(), record()).empty()); }

/// Changes where, when, by which program and how the output is written.
TEST(Differences, NoneInWhatDoesNotChangeTheResult) {
  auto now = record();
  now.setup = "builders = 7\n";
  now.hosts = {"n2", "n3"};
  now.eventloom_version = "0.2.0";
  now.mpi_version = "another";
  now.ucx_version = "another";
  now.hdf5_version = "another";
  now.closed = true;
  now.totals[Metric::events] = 17;
  now.sources[0].input.path = "/mnt/data/a.epochs";
  EXPECT_TRUE(differences(record(), now).empty());
}

TEST(Differences, NoneBetweenTextsOfOneTime) {
  auto before = record();
  auto now = record();
  before.setup += "time-origin = 2026-11-21T10:00:00Z\n";
  now.setup += "time-origin = 2026-11-21T11:00:00.0+01:00\n";
  EXPECT_TRUE(differences(before, now).empty());
}

TEST(Differences, NameTheOptionWithBothValues) {
  using Change = std::function<void(RunRecord&)>;
  const std::vector<std::pair<Change, std::vector<std::string>>> cases = {
      {[](RunRecord& r) { r.definition = "gap:10,3"; }, {"--define", "gap:10,2", "gap:10,3"}},
      {[](RunRecord& r) { r.setup += "time-origin = 2026-11-21T10:00:00Z\n"; },
       {"--time-origin", "''", "2026-11-21T10:00:00Z"}},
      {[](RunRecord& r) { r.filters.pop_back(); }, {"--filter", "n_hits>=8", "duration<500"}},
      {[](RunRecord& r) { r.filters.clear(); }, {"--filter", "n_hits>=8"}},
      {[](RunRecord& r) { r.base.tick_ps = 1000; }, {"--tick", "500", "1000"}},
      {[](RunRecord& r) { r.base.epoch_ticks = 10000; }, {"--epoch", "20000", "10000"}},
      {[](RunRecord& r) { r.epochs_per_slice = 100; }, {"--epochs-per-slice", "16", "100"}},
      {[](RunRecord& r) { r.overlap = 12346; }, {"--overlap", "12345", "12346"}},
      {[](RunRecord& r) { r.with_payload = true; }, {"payload"}},
      {[](RunRecord& r) { r.numbered = true; }, {"number"}},
  };
  for (const auto& [change, words] : cases) EXPECT_TRUE(has(difference(change), words)) << difference(change);
}

TEST(Differences, NameTheSource) {
  using Change = std::function<void(RunRecord&)>;
  const std::vector<std::pair<Change, std::vector<std::string>>> cases = {
      {[](RunRecord& r) { r.sources.pop_back(); }, {"sources", "2", "1"}},
      {[](RunRecord& r) { r.sources.push_back(r.sources[0]); }, {"sources", "2", "3"}},
      {[](RunRecord& r) { r.sources[1].uri = "file:c.epochs"; }, {"source 1", "file:b.epochs", "file:c.epochs"}},
      {[](RunRecord& r) { r.sources[1].input.bytes = 2004; }, {"source 1", "size", "2000", "2004"}},
      {[](RunRecord& r) { r.sources[0].input.crc32c = 0x0badcaff; }, {"source 0", "checksum", "0badcafe", "0badcaff"}},
  };
  for (const auto& [change, words] : cases) EXPECT_TRUE(has(difference(change), words)) << difference(change);
}

/// If the file is another one, its other differences are not listed.
TEST(Differences, AnotherSourceIsOneDifference) {
  const auto text = difference([](RunRecord& r) {
    r.sources[0].uri = "file:z.epochs";
    r.sources[0].name = "z";
    r.sources[0].input = {"/data/z.epochs", 9, 9};
  });
  EXPECT_TRUE(has(text, {"source 0", "file:a.epochs", "file:z.epochs"})) << text;
}

TEST(Differences, AllOfThemAreFound) {
  auto now = record();
  std::swap(now.sources[0], now.sources[1]);
  EXPECT_EQ(differences(record(), now).size(), 2U);
  now.definition = "tag";
  EXPECT_EQ(differences(record(), now).size(), 3U);
}

}  // namespace
}  // namespace eventloom
