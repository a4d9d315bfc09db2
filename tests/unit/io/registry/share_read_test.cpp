#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/epochs/stream_writer.hpp"
#include "io/registry/open_sources.hpp"
#include "io/spikes/spikes_writer.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kHits = 60'000;
constexpr std::uint64_t kApart = 1000;  ///< ns
const std::string kRecordings = TEST_DATA_DIR;

/// State after a slice was collected.
struct Step {
  double share = 0;
  std::uint64_t hits = 0;
};

/// Reads the input in steps of `epochs`, as a run does.
std::vector<Step> steps_of(const std::string& uri, Epoch epochs) {
  const auto source = open_source(expand_sources(std::array{uri}).front(), {0}, {});
  std::vector<Step> steps;
  SliceData data;
  for (Epoch at = source->first_epoch().value_or(0);; at += epochs) {
    data.clear();
    source->collect({at, at + epochs}, data);
    source->release_before(at + epochs);
    steps.push_back({source->share_read().value_or(-1), source->hits_read()});
    if (source->end_epoch() && *source->end_epoch() <= at + epochs) return steps;
  }
}

void expect_true_shares(const std::string& uri, double tolerance, Epoch epochs = 50) {
  SCOPED_TRACE(uri);
  const auto steps = steps_of(uri, epochs);
  ASSERT_GE(steps.size(), 5U);
  const auto all = static_cast<double>(steps.back().hits);
  double before = 0;
  for (const auto& step : steps) {
    EXPECT_NEAR(step.share, static_cast<double>(step.hits) / all, tolerance);
    EXPECT_GE(step.share, before - tolerance);
    before = step.share;
  }
  EXPECT_EQ(steps.back().share, 1);
}

class ShareRead : public testing::Test {
 protected:
  ShareRead() { std::filesystem::create_directories(folder_); }
  ~ShareRead() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A file with a `header` and `kHits` records.
  template <class Record>
  [[nodiscard]] std::string binary(const std::string& name, const std::string& header, Record record) const {
    std::ofstream out(path(name), std::ios::binary);
    out << header;
    for (std::uint64_t i = 0; i < kHits; ++i) {
      const std::string bytes = record(i);
      out << bytes;
    }
    return path(name);
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("share_" + std::to_string(getpid()));
};

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

TEST_F(ShareRead, OfBinaryFilesIsThatOfTheirHits) {
  const auto packed = binary("p.bin", "", [](auto i) { return bytes_of(i * kApart) + bytes_of(i % 7); });
  expect_true_shares("packed:" + packed + "?record=16&time=u64le@0&channel=u32le@8", 0.02);
  expect_true_shares("packed:" + packed + "?record=16&time=u64le@0&channel=u32le@8&offset=7us&reorder=500", 0.02);
  const auto compass = binary("c.bin", "\xe1\xca", [](std::uint64_t i) {
    return bytes_of(std::uint32_t{0}) + bytes_of(i * kApart * 1000) + bytes_of(std::uint16_t{5}) +
           bytes_of(std::uint32_t{0});
  });
  expect_true_shares("compass:" + compass, 0.02);
  const auto tpx3 = binary("t.tpx3", "", [](std::uint64_t i) {
    const auto toa = i * kApart / 25;
    return bytes_of(std::uint64_t{8} << 48 | 0x33585054) + bytes_of(0xbULL << 60 | (toa & 0x3fff) << 30 | toa >> 14);
  });
  expect_true_shares("tpx3:" + tpx3, 0.02);
}

TEST_F(ShareRead, OfTextIsThatOfItsLines) {
  const auto csv = binary("t.csv", "t_ns,ch\n", [](auto i) { return std::to_string(i * kApart) + ",5\n"; });
  expect_true_shares("csv:" + csv, 0.02);
}

TEST_F(ShareRead, OfSpikesIsThatOfTheirPackets) {
  SpikesWriter writer(path("s.spikes"), 1000, 0);
  for (std::uint64_t i = 0; i < kHits; ++i) writer.append(Tick(i * kApart), 3);
  writer.finish();
  expect_true_shares("spikes:" + path("s.spikes"), 0.02);
}

TEST_F(ShareRead, OfColumnsIsThatOfTheirRows) {
  const hsize_t rows = kHits;
  std::vector<std::uint64_t> times(rows);
  for (std::uint64_t i = 0; i < rows; ++i) times[i] = i * kApart;
  const hid_t file = H5Fcreate(path("h.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  for (const char* column : {"time", "channel"}) {
    const hid_t set = H5Dcreate2(file, column, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times.data());
    H5Dclose(set);
  }
  H5Sclose(space);
  H5Fclose(file);
  expect_true_shares("hdf5:" + path("h.h5") + "?unit=ns", 0.02);
}

TEST_F(ShareRead, OfGeneratedHitsIsThatOfTheirTime) { expect_true_shares("gen:poisson?rate=1e6&duration=60ms", 0.02); }

TEST_F(ShareRead, OfStreamsWithAnotherClockIsThatOfTheirTime) {
  const auto source =
      open_source(expand_sources(std::array{std::string("gen:poisson?rate=1e6&duration=60ms")}).front(), {0}, {});
  SliceData data;
  source->collect({0, 10'000}, data);
  StreamWriter writer(path("a.epochs"), source->header());
  for (const auto piece : data.pieces) writer.append(piece);
  writer.finish();
  expect_true_shares("file:" + path("a.epochs") + "?offset=7us", 0.02);
}

/// Events are read one by one; their sizes differ.
TEST_F(ShareRead, OfListModeIsThatOfItsBytes) {
  expect_true_shares("lmd:" + kRecordings + "/lmd/classic_16k.lmd", 0.1, 2);
  expect_true_shares("lmd:" + kRecordings + "/lmd/gen_split_000*.lmd?concat", 0.1, 2);
  expect_true_shares("hld:" + kRecordings + "/hld/comb.hld", 0.1, 2);
}

}  // namespace
}  // namespace eventloom
