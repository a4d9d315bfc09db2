#include "io/registry/open_sources.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace eventloom {
namespace {

class OpenSources : public testing::Test {
 protected:
  OpenSources() { std::filesystem::create_directories(folder_); }
  ~OpenSources() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("sources_" + std::to_string(getpid()));
};

std::uint64_t hits_of(const SourceSpec& spec) {
  const auto source = open_source(spec, {0}, {});
  SliceData data;
  source->collect({0, std::numeric_limits<Epoch>::max()}, data);
  return source->hits_read();
}

/// Writes a file with a group of `rows` hits for each name.
void write_groups(const std::string& path, const std::vector<std::string>& names, hsize_t rows) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const std::vector<std::uint64_t> values(rows, 5);
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  for (const auto& name : names) {
    const hid_t group = H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (const char* column : {"time", "channel"}) {
      const hid_t set = H5Dcreate2(group, column, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
      H5Dclose(set);
    }
    H5Gclose(group);
  }
  H5Sclose(space);
  H5Fclose(file);
}

TEST_F(OpenSources, NamesThatAGlobMatchedAreTakenAsTheyAre) {
  const std::vector<std::string> names = {"a&b.csv", "a=b.csv", "a?b.csv", "a?time=7&channel=8.csv",
                                          "b:c.csv", "c[d].csv"};
  for (const auto& name : names) std::ofstream(path(name)) << "10 1\n20 2\n";
  const auto specs = expand_sources(std::array{"csv:" + path("*.csv") + "?time=1&channel=2&unit=ns"});
  ASSERT_EQ(specs.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(specs[i].uri.path(), path(names[i]));
    EXPECT_EQ(hits_of(specs[i]), 2U) << names[i];
  }
}

TEST_F(OpenSources, AFileWhosePathIsWrittenLikeAGlobIsThatFile) {
  for (const char* name : {"a[1].csv", "a1.csv", "b1.csv"}) std::ofstream(path(name)) << "10 1\n";
  const auto paths = [&](const std::string& name) {
    std::vector<std::string> found;
    for (const auto& spec : expand_sources(std::array{"csv:" + path(name) + "?time=1&channel=2&unit=ns"})) {
      found.push_back(std::filesystem::path(spec.uri.path()).filename());
    }
    return found;
  };
  EXPECT_EQ(paths("a[1].csv"), (std::vector<std::string>{"a[1].csv"}));
  EXPECT_EQ(paths("b[1].csv"), (std::vector<std::string>{"b1.csv"}));
}

TEST_F(OpenSources, GroupsThatAPatternMatchedAreTakenAsTheyAre) {
  const std::vector<std::string> names = {"a&time=x", "a?b", "b"};
  write_groups(path("g.h5"), names, 3);
  const auto specs = expand_sources(std::array{"hdf5:" + path("g.h5") + "?group=/*&channel=channel&unit=ns"});
  ASSERT_EQ(specs.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(specs[i].uri.get("group", ""), "/" + names[i]);
    EXPECT_EQ(hits_of(specs[i]), 3U) << names[i];
  }
}

}  // namespace
}  // namespace eventloom
