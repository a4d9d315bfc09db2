#include "app/command/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

TEST(TemporaryFolder, IsRemovedWithAllThatItHolds) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder("test");
    path = folder.path();
    std::ofstream(folder.file("file")) << "text";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// The predictable name is taken by somebody else's folder, which must be left alone.
TEST(TemporaryFolder, IsNeverAFolderThatWasThereBefore) {
  const auto before = std::filesystem::temp_directory_path() / ("eventloom-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(before);
  std::ofstream(before / "thesis") << "text";
  { const TemporaryFolder folder("test"); }
  EXPECT_TRUE(std::filesystem::exists(before / "thesis"));
  std::filesystem::remove_all(before);
}

TEST(TemporaryFolder, LackOfAPlaceIsReportedInOneLine) { EXPECT_THROW(TemporaryFolder("no/such/folder"), UserError); }

}  // namespace
}  // namespace eventloom
