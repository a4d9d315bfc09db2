#include "io/hdf5/output_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <string>

#include "io/files/own_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "plain_hdf5.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;

/// A process may be killed at any time: HDF5 writes its own first bytes before other metadata.
TEST(OutputFile, IsKnownForOursUntilAllOfItIsWritten) {
  const fs::path path = fs::path(testing::TempDir()) / ("eventloom_output_" + std::to_string(getpid()) + ".h5");
  const fs::path partial = path.string() + ".partial";
  const auto head = [](const fs::path& file) { return head_of(file, kInTheMaking.size()); };
  OutputFile file(path);
  EXPECT_EQ(head(partial), kInTheMaking);
  H5Gclose(H5Gcreate2(file.id(), "events", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fflush(file.id(), H5F_SCOPE_GLOBAL);
  EXPECT_EQ(head(partial), kInTheMaking);
  EXPECT_TRUE(is_own_hdf5(partial));
  file.close();
  EXPECT_TRUE(head(partial).starts_with("\x89HDF\r\n"));
  file.publish();
  EXPECT_TRUE(plain::has(path, "events"));
  fs::remove(path);
}

}  // namespace
}  // namespace eventloom
