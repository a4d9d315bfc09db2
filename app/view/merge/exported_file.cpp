#include "app/view/merge/exported_file.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kParquet = "PAR1";
constexpr std::uint32_t kLongestFooter = 64U << 20;

/// A class and a name, each after its length, as in the record of any object of a ROOT file (TKey).
constexpr std::string_view kRootMark =
    "\x0aTObjString\x09"
    "eventloom";
/// A key and its value in Thrift's compact protocol: 0x18 is a binary field, followed by its length.
constexpr std::string_view kParquetMark =
    "\x18\x09"
    "eventloom\x18\x1b"
    "events that Eventloom built";

/// The metadata of a Parquet file, which its last bytes delimit: their length in 4 bytes, and "PAR1". Empty if the file
/// is not complete.
std::string parquet_footer(const std::filesystem::path& path) {
  constexpr std::streamoff kTail = 8;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size < kTail) return {};
  std::string tail(kTail, '\0');
  file.seekg(size - kTail).read(tail.data(), kTail);
  std::uint32_t length = 0;
  std::memcpy(&length, tail.data(), sizeof length);
  if (!file || !tail.ends_with(kParquet) || length > kLongestFooter || length > size - kTail) return {};
  std::string footer(length, '\0');
  file.seekg(size - kTail - length).read(footer.data(), length);
  return file ? footer : std::string();
}

}  // namespace

bool is_exported_root(const std::filesystem::path& file) {
  constexpr std::size_t kEnough = 4096;
  const auto head = head_of(file, kEnough);
  return head.starts_with("root") && head.find(kRootMark) != std::string::npos;
}

bool is_exported_parquet(const std::filesystem::path& file) {
  if (head_of(file, kParquet.size()) != kParquet) return false;
  const auto footer = parquet_footer(file);
  return footer.empty() ? file.extension() == kPartial : footer.find(kParquetMark) != std::string::npos;
}

}  // namespace eventloom
