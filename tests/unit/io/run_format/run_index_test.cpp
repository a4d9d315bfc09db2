#include "io/run_format/run_index.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/run_file_writer.hpp"
#include "plain_hdf5.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class RunIndexTest : public FolderTest {};

RunIndex two_runs() {
  return {true, {{"muon", "run.muon.h5", "gap:25ns,4"}, {"noise", "run.noise.h5", "multiplicity:50ns,2"}}};
}

TEST_F(RunIndexTest, ReadsBackWhatWasWritten) {
  write_run_index(folder / "run.h5", two_runs());
  const auto index = read_run_index(folder / "run.h5");
  EXPECT_TRUE(index.closed);
  ASSERT_EQ(index.runs.size(), 2U);
  EXPECT_EQ(index.runs[0].name, "muon");
  EXPECT_EQ(index.runs[0].file, "run.muon.h5");
  EXPECT_EQ(index.runs[1].definition, "multiplicity:50ns,2");
  write_run_index(folder / "run.h5", {false, {{"a", "run.a.h5", "tag"}}});
  EXPECT_FALSE(read_run_index(folder / "run.h5").closed);
  EXPECT_EQ(read_run_index(folder / "run.h5").runs.size(), 1U);
}

TEST_F(RunIndexTest, IsNoRunFile) {
  write_run_index(folder / "run.h5", two_runs());
  EXPECT_TRUE(is_run_index(folder / "run.h5"));
  EXPECT_FALSE(is_run_file(folder / "run.h5"));
  EXPECT_TRUE(is_own_hdf5(folder / "run.h5"));
  try {
    read_run_file(folder / "run.h5");
    FAIL() << "an index was read as a run file";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("give 'run.muon.h5' or 'run.noise.h5'"), std::string::npos) << e.what();
  }
  write_run_file(folder / "other.h5", {}, {});
  EXPECT_FALSE(is_run_index(folder / "other.h5"));
  EXPECT_THROW(read_run_index(folder / "other.h5"), UserError);
  EXPECT_NO_THROW(refuse_index(folder / "other.h5"));
}

}  // namespace
}  // namespace eventloom
