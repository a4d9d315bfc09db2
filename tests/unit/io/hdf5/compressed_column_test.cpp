#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/column_writer.hpp"
#include "plain_hdf5.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 4096;
constexpr std::size_t kChunkRows = 511;  // of 8 bytes, beside the checksum

ColumnSpec spec_of(ElementType type) { return {.path = "x", .type = type, .meaning = "test"}; }

/// Values whose first bits vary; `bits` 64: no deflate makes them smaller.
std::vector<std::uint64_t> random_values(std::size_t n, int bits) {
  std::mt19937_64 random(n);
  std::vector<std::uint64_t> values(n);
  for (auto& value : values) value = random() >> (64 - bits);
  return values;
}

std::string errors_of_hdf5() {
  std::string text;
  const auto add = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    *static_cast<std::string*>(out) += std::string(error->desc) + "; ";
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add, &text);
  return text;
}

class CompressedColumn : public testing::Test {
 protected:
  ~CompressedColumn() override { fs::remove(path_); }

  template <class T>
  void write(ElementType type, const std::vector<T>& values, unsigned level) const {
    const auto spec = spec_of(type);
    fs::remove(path_);
    OutputFile file(path_);
    ColumnWriter column(file, spec, {.chunk_bytes = kChunkBytes, .compress = level});
    column.append(std::span(values));
    column.finish();
    file.close();
    file.publish();
  }
  /// As other programs and earlier versions do: by HDF5's own filters.
  void write_by_hdf5(const std::vector<std::uint64_t>& values) const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t rows = values.size();
    const hsize_t unlimited = H5S_UNLIMITED;
    const hsize_t chunk = kChunkRows;
    const hid_t space = H5Screate_simple(1, &rows, &unlimited);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 1);
    H5Pset_fletcher32(list);
    const hid_t dataset = H5Dcreate2(file, "x", H5T_STD_U64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
  }
  [[nodiscard]] std::vector<std::uint64_t> read(std::size_t buffer_bytes = 1000) const {
    const H5Id file(plain::open(path_), H5Fclose);
    const auto spec = spec_of(ElementType::u64);
    std::vector<std::uint64_t> values;
    ColumnCursor cursor(file.get(), "x.h5", spec, buffer_bytes);
    while (cursor.rows_left() > 0) values.push_back(cursor.next<std::uint64_t>());
    return values;
  }
  /// Address and bytes of a stored chunk.
  [[nodiscard]] std::pair<haddr_t, hsize_t> chunk(hsize_t number) const {
    const hid_t file = plain::open(path_);
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    unsigned mask = 0;
    std::pair<haddr_t, hsize_t> place;
    const hid_t space = H5Dget_space(dataset);
    H5Dget_chunk_info(dataset, space, number, nullptr, &mask, &place.first, &place.second);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return place;
  }

  fs::path path_ = fs::path(testing::TempDir()) / ("eventloom_compressed_" + std::to_string(getpid()) + ".h5");
};

TEST_F(CompressedColumn, IsReadByHdf5) {
  for (const unsigned level : {1U, 6U}) {
    for (const std::size_t n : {1UL, 7UL, kChunkRows, 3 * kChunkRows, 3 * kChunkRows + 1}) {
      for (const int bits : {1, 20, 64}) {
        SCOPED_TRACE(std::to_string(n) + " values of " + std::to_string(bits) + " bits, level " +
                     std::to_string(level));
        const auto values = random_values(n, bits);
        write(ElementType::u64, values, level);
        ASSERT_EQ(plain::column<std::uint64_t>(path_, "x"), values) << errors_of_hdf5();
        const std::vector<std::uint32_t> narrow(values.begin(), values.end());
        write(ElementType::u32, narrow, level);
        ASSERT_EQ(plain::column<std::uint32_t>(path_, "x"), narrow) << errors_of_hdf5();
        const std::vector<std::uint16_t> narrower(values.begin(), values.end());
        write(ElementType::u16, narrower, level);
        ASSERT_EQ(plain::column<std::uint16_t>(path_, "x"), narrower) << errors_of_hdf5();
      }
    }
  }
}

TEST_F(CompressedColumn, OfHdf5IsRead) {
  for (const std::size_t n : {1UL, kChunkRows, 3 * kChunkRows + 1}) {
    // HDF5 leaves the deflate filter out of chunks that would grow.
    for (const int bits : {1, 20, 64}) {
      SCOPED_TRACE(std::to_string(n) + " values of " + std::to_string(bits) + " bits");
      const auto values = random_values(n, bits);
      write_by_hdf5(values);
      for (const std::size_t buffer : {8UL, 1000UL, 100'000UL}) ASSERT_EQ(read(buffer), values);
    }
  }
}

TEST_F(CompressedColumn, IsReadAgain) {
  const auto values = random_values(3 * kChunkRows + 1, 20);
  write(ElementType::u64, values, 1);
  EXPECT_EQ(read(), values);
}

/// Each byte of the second chunk.
TEST_F(CompressedColumn, NamesTheRowsThatAreDamaged) {
  write(ElementType::u64, random_values(3 * kChunkRows, 6), 1);
  const auto [address, bytes] = chunk(1);
  ASSERT_GT(bytes, 200);
  for (hsize_t i = 0; i < bytes; ++i) {
    const auto flip = [&, at = static_cast<std::streamoff>(address + i)] {
      std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
      const int byte = file.seekg(at).get();
      file.seekp(at).put(static_cast<char>(byte ^ 1));
    };
    flip();
    try {
      FAIL() << "byte " << i << " changed: " << read().size() << " rows read";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("'x.h5': x is damaged: the chunk of rows 511 to 1021: "),
                std::string::npos)
          << error.what();
    }
    flip();
  }
}

}  // namespace
}  // namespace eventloom
