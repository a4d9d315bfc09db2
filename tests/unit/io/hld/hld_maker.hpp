#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace eventloom::test {

using Bytes = std::vector<unsigned char>;

inline void put(Bytes& bytes, std::uint32_t word, bool big_endian = false) {
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<unsigned char>(word >> 8 * (big_endian ? 3 - i : i)));
}

inline void overwrite(Bytes& bytes, std::size_t at, std::uint32_t word, bool big_endian = false) {
  Bytes four;
  put(four, word, big_endian);
  for (std::size_t i = 0; i < four.size(); ++i) bytes.at(at + i) = four[i];
}

inline void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

inline void pad(Bytes& bytes) {
  while (bytes.size() % 8 != 0) bytes.push_back(0);
}

struct SubeventSpec {
  std::uint32_t id = 0x8000;
  std::vector<std::uint32_t> words;
  bool big_endian = true;
  std::uint32_t decoding = 0x00020011;
  std::uint32_t trigger_number = 0;
};

/// A subevent padded to 8 bytes.
inline Bytes subevent(const SubeventSpec& spec) {
  Bytes bytes;
  put(bytes, static_cast<std::uint32_t>(16 + 4 * spec.words.size()), spec.big_endian);
  for (const auto word : {spec.decoding, spec.id, spec.trigger_number}) put(bytes, word, spec.big_endian);
  for (const auto word : spec.words) put(bytes, word, spec.big_endian);
  pad(bytes);
  return bytes;
}

struct EventSpec {
  std::uint32_t number = 1;
  std::uint32_t id = 0x2001;
  bool big_endian = false;
  std::uint32_t run = 7;
};

inline Bytes event(const EventSpec& spec, const std::vector<Bytes>& subevents = {}) {
  Bytes bytes;
  std::size_t size = 32;
  for (const auto& one : subevents) size += one.size();
  for (const auto word :
       {static_cast<std::uint32_t>(size), 0x00030001U, spec.id, spec.number, 0x007e0a15U, 0x00022333U, spec.run, 0U}) {
    put(bytes, word, spec.big_endian);
  }
  for (const auto& one : subevents) append(bytes, one);
  return bytes;
}

/// An event with one subevent of two words that depend on its number.
inline Bytes plain_event(std::uint32_t number) {
  return event({.number = number}, {subevent({.words = {number, ~number}})});
}

inline Bytes plain_events(const std::vector<std::uint32_t>& numbers) {
  Bytes bytes;
  for (const auto number : numbers) append(bytes, plain_event(number));
  return bytes;
}

inline Bytes begin_run() { return event({.number = 0, .id = 0x00010002}); }
inline Bytes end_run() { return event({.number = 0, .id = 0x00010003}); }

/// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Bytes& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("hld_test_" + std::to_string(getpid()) + "_" + std::to_string(serial()++) + ".hld")) {
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  static int& serial() {
    static int n = 0;
    return n;
  }

  std::filesystem::path path_;
};

}  // namespace eventloom::test
