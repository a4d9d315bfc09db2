#include "io/files/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Large enough for parallel file systems.
constexpr std::size_t kCopyBlock = std::size_t{8} << 20;

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw UserError("cannot " + std::string(what) + " '" + path.string() + "': " + std::strerror(error));
}

/// An open file.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, const char* to_do)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(to_do, path, errno);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

void write_all(const Descriptor& file, std::span<const char> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.number(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace

void sync_file(const std::filesystem::path& file) {
  const Descriptor open(file, O_RDONLY, "write");
  if (::fsync(open.number()) != 0) fail("write", file, errno);
}

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? "." : folder;
  const Descriptor open(place, O_RDONLY | O_DIRECTORY, "open the folder");
  // Some file systems cannot sync a folder; then its names are as safe as they make them.
  if (::fsync(open.number()) != 0 && errno != EINVAL) fail("write the folder", place, errno);
}

void copy_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Descriptor in(from, O_RDONLY, "read");
  const Descriptor out(to, O_WRONLY | O_CREAT | O_TRUNC, "write");
  std::vector<char> block(kCopyBlock);
  for (;;) {
    const ssize_t n = ::read(in.number(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", from, errno);
    if (n == 0) break;
    write_all(out, {block.data(), static_cast<std::size_t>(n)}, to);
  }
  if (::fsync(out.number()) != 0) fail("write", to, errno);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("write", to, errno);
  sync_folder(to.parent_path());
}

}  // namespace eventloom
