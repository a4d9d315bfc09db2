#include "io/files/file_checksum.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlockBytes = 128U << 10;

InputFile read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError("cannot open '" + path + "': " + std::strerror(errno));
  InputFile file;
  file.path = path;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  std::vector<char> block(error ? kBlockBytes : std::clamp<std::uintmax_t>(bytes, 1, kBlockBytes));
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto n = static_cast<std::size_t>(in.gcount());
    file.crc32c = crc32c(std::as_bytes(std::span(block.data(), n)), file.crc32c);
    file.bytes += n;
  }
  if (in.bad()) throw UserError("cannot read '" + path + "': " + std::strerror(errno));
  return file;
}

struct Known {
  InputFile file;
  std::filesystem::file_time_type changed;
};

}  // namespace

InputFile describe_file(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Known> known;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw UserError("cannot open '" + path + "': " + (error ? error.message() : "not a regular file"));
  }
  const auto changed = std::filesystem::last_write_time(path, error);
  const auto bytes = std::filesystem::file_size(path, error);
  const std::lock_guard lock(mutex);
  const auto found = known.find(path);
  if (found != known.end() && found->second.changed == changed && found->second.file.bytes == bytes) {
    return found->second.file;
  }
  auto file = read_file(path);
  known[path] = {file, changed};
  return file;
}

InputFile describe_files(const std::string& name, std::span<const std::string> paths) {
  if (paths.size() == 1) return describe_file(paths.front());
  InputFile all{.path = name};
  for (const auto& path : paths) {
    const auto file = describe_file(path);
    all.bytes += file.bytes;
    const std::array<std::uint64_t, 3> words = {all.crc32c, file.bytes, file.crc32c};
    all.crc32c = crc32c_of_words(words);
  }
  return all;
}

}  // namespace eventloom
