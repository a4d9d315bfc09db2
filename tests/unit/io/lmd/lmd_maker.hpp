#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

/// LMD files composed of bytes, from the format's description alone: nothing here comes from formats/lmd.hpp.
namespace eventloom::test {

/// Bytes to which numbers are appended in little-endian order.
class Bytes {
 public:
  Bytes& u8(unsigned value) {
    bytes_.push_back(static_cast<char>(value & 0xffU));
    return *this;
  }
  Bytes& u16(unsigned value) { return u8(value).u8(value >> 8); }
  Bytes& u32(std::uint64_t value) {
    return u16(static_cast<unsigned>(value & 0xffffU)).u16(static_cast<unsigned>(value >> 16 & 0xffffU));
  }
  Bytes& zeros(std::size_t n) {
    bytes_.append(n, '\0');
    return *this;
  }
  Bytes& add(const std::string& more) {
    bytes_ += more;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

using Words = std::vector<std::uint32_t>;

/// `id`: control << 24 | crate << 16 | procid.
inline std::string subevent(std::uint32_t id, const Words& data, unsigned type = 10, unsigned subtype = 1) {
  Bytes bytes;
  bytes.u32(2 + 2 * data.size()).u16(type).u16(subtype);
  bytes.u16(id & 0xffffU).u8(id >> 16 & 0xffU).u8(id >> 24);
  for (const auto word : data) bytes.u32(word);
  return bytes.text();
}

/// `dlen`: a false length.
inline std::string event(std::uint32_t number, const std::string& subevents, unsigned trigger = 1, unsigned dummy = 0,
                         std::int64_t dlen = -1) {
  Bytes bytes;
  bytes.u32(dlen >= 0 ? static_cast<std::uint64_t>(dlen) : 4 + subevents.size() / 2).u16(10).u16(1);
  bytes.u16(dummy).u16(trigger).u32(number).add(subevents);
  return bytes.text();
}

/// An event of two subevents whose data depend on its number.
inline std::string plain_event(std::uint32_t number, unsigned trigger = 1) {
  return event(number, subevent(0x01020003, {number, 5}) + subevent(0x04, {number}), trigger);
}

inline std::string element(unsigned type, unsigned subtype, const std::string& body) {
  Bytes bytes;
  bytes.u32(body.size() / 2).u16(type).u16(subtype).add(body);
  return bytes.text();
}

/// A 101/1 header as DABC writes it, or with the offset of an index in units of 4 bytes.
inline std::string flat_header(std::uint64_t table = 0, unsigned offset_bytes = 8, unsigned more_words = 0) {
  Bytes bytes;
  bytes.u32(0x7ffffff4).u16(101).u16(1).u32(table & 0xffffffffU).u32(table >> 32);
  bytes.u32(0xffffffff).u32(offset_bytes).u32(1000).u32(7).u32(1).u32(1).u32(more_words).u32(0);
  return bytes.text();
}

/// The header of a buffer of `size` bytes, `used` of which are elements.
struct BufferFields {
  std::size_t size = 512;
  std::size_t used = 0;
  unsigned number = 1;
  bool continues = false;
  bool has_more = false;
  unsigned type = 10;
  unsigned mark = 1;
};
inline std::string buffer_header(const BufferFields& f) {
  const bool is_long = (f.size - 48) / 2 > 16360 || f.type == 100;
  Bytes bytes;
  bytes.u32((f.size - 48) / 2).u16(f.type).u16(1).u16(is_long ? 0 : static_cast<unsigned>(f.used / 2));
  bytes.u8(f.continues ? 1 : 0).u8(f.has_more ? 1 : 0).u32(f.number).u32(0).u32(0).u32(0).u32(0);
  bytes.u32(f.mark).u32(0).u32(is_long ? f.used / 2 : 0).u32(0);
  return bytes.text();
}
/// The buffer with its elements and slack.
inline std::string buffer(BufferFields fields, const std::string& elements) {
  fields.used = elements.size();
  Bytes bytes;
  bytes.add(buffer_header(fields)).add(elements).add(std::string(fields.size - 48 - elements.size(), '\xee'));
  return bytes.text();
}

/// The header of a 2000/1 file whose buffers have `size` bytes.
inline std::string classic_header(std::size_t size = 512) {
  Bytes bytes;
  bytes.u32(size / 2).u16(2000).u16(1).zeros(24).u32(1).zeros(12);
  bytes.u16(4).add("tape").zeros(26);
  bytes.u16(7).add("run.lmd").zeros(79);
  bytes.u16(5).add("mbs\x01 ").zeros(25);
  bytes.add("Jan  1 2026").zeros(13);
  bytes.u16(3).add("r17").zeros(63).u16(1).add("e").zeros(65);
  bytes.u32(2).u16(5).add("first").zeros(73).u16(6).add("second").zeros(72);
  if (size <= 512) return bytes.text().substr(0, size);
  return bytes.zeros(size - bytes.size()).text();
}

/// Swaps each whole 32-bit word from `begin` on.
inline std::string swapped(std::string bytes, std::size_t begin = 0) {
  for (std::size_t i = begin; i + 4 <= bytes.size(); i += 4) {
    std::swap(bytes[i], bytes[i + 3]);
    std::swap(bytes[i + 1], bytes[i + 2]);
  }
  return bytes;
}

/// Files in the test's own folder.
class LmdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / (std::string("lmd_") + std::to_string(getpid()) + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name = "made.lmd") const { return (folder_ / name).string(); }
  std::string write(const std::string& bytes, const std::string& name = "made.lmd") const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace eventloom::test
