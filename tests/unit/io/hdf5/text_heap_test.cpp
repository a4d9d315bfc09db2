#include "io/hdf5/text_heap.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <iterator>
#include <string>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/run_format/run_index.hpp"
#include "run_maker.hpp"

namespace eventloom {
namespace {

class TextHeapTest : public FolderTest {
 protected:
  std::filesystem::path file() const { return folder / "texts.h5"; }

  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(std::size_t at, char byte) const {
    std::fstream out(file(), std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at)).put(byte);
  }
};

/// Writes a file with HDF5 itself, after `user_bytes`. A null pointer is an element that is not written.
void write_by_hdf5(const std::filesystem::path& path, const std::vector<const char*>& texts, hsize_t user_bytes) {
  const H5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation.get(), user_bytes);
  const H5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT), H5Fclose);
  const H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  const hsize_t n = texts.size();
  const H5Id space(H5Screate_simple(1, &n, nullptr), H5Sclose);
  const H5Id attribute(H5Acreate2(file.get(), "texts", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  ASSERT_GE(H5Awrite(attribute.get(), type.get(), texts.data()), 0);
}

TEST_F(TextHeapTest, ReadsWhatHdf5HasWritten) {
  const std::string large(100'000, 'x');
  for (const hsize_t user_bytes : {0U, 512U}) {
    write_by_hdf5(file(), {"a", "", nullptr, large.c_str(), "b"}, user_bytes);
    const H5Id open = open_for_reading(file());
    EXPECT_EQ(read_texts(open.get(), "texts"), (std::vector<std::string>{"a", "", "", large, "b"}));
  }
}

TEST_F(TextHeapTest, ReadsFromSeveralHeaps) {
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (std::size_t i = 0; i < 3000; ++i) texts.push_back("text " + std::to_string(i * i * i));
  for (const auto& text : texts) pointers.push_back(text.c_str());
  write_by_hdf5(file(), pointers, 0);
  const H5Id open = open_for_reading(file());
  EXPECT_EQ(read_texts(open.get(), "texts"), texts);
}

/// HDF5 1.10 itself crashes on some of these files, and does not terminate on others.
TEST_F(TextHeapTest, FindsEachFlippedBit) {
  const RunIndex index{true, {{"muon", "run.muon.h5", "gap:25ns,4"}, {"noise", "run.noise.h5", "multiplicity:50ns,2"}}};
  write_run_index(file(), index);
  const auto sound = bytes();
  const auto heap = sound.find("GCOL");
  ASSERT_NE(heap, std::string::npos);
  ASSERT_EQ(sound.find("GCOL", heap + 1), std::string::npos);
  constexpr std::size_t kTexts = 320;
  std::size_t found = 0;
  for (std::size_t bit = 0; bit < 8 * kTexts; ++bit) {
    const auto at = heap + bit / 8;
    put(at, static_cast<char>(sound[at] ^ 1 << bit % 8));
    try {
      const auto read = read_run_index(file());
      ASSERT_EQ(read.runs.size(), 2U);
      EXPECT_EQ(read.runs[0].file + read.runs[1].definition, index.runs[0].file + index.runs[1].definition);
    } catch (const UserError& e) {
      ++found;
      EXPECT_NE(std::string(e.what()).find(file().string()), std::string::npos) << e.what();
    }
    put(at, sound[at]);
  }
  EXPECT_GT(found, 8 * kTexts / 2) << "most of it is sizes and texts";
}

TEST_F(TextHeapTest, SaysWhereItIsDamaged) {
  write_run_index(file(), {true, {{"muon", "run.muon.h5", "tag"}}});
  const auto heap = bytes().find("GCOL");
  put(heap + 16 + 8 + 3, 1);  // size of the first text
  try {
    read_run_index(file());
    FAIL() << "read as if nothing had happened";
  } catch (const UserError& e) {
    const auto expected = "in the heap at offset " + std::to_string(heap) + ", text 1 states 16777";
    EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace eventloom
