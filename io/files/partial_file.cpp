#include "io/files/partial_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/durable.hpp"

namespace eventloom {

namespace {

/// Bounds the retries: another process may take or remove the name between two checks.
constexpr int kAttempts = 100;

/// Large enough for parallel file systems.
constexpr std::size_t kCopyBlock = std::size_t{8} << 20;

/// Fills the block, unless the file ends. Returns the number of bytes read.
std::size_t read_block(const Descriptor& in, const std::filesystem::path& name, std::span<std::byte> block) {
  std::size_t done = 0;
  while (done < block.size()) {
    const ssize_t n = ::read(in.number(), block.data() + done, block.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw UserError("cannot read '" + name.string() + "': " + std::strerror(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace

PartialFile::PartialFile(std::filesystem::path place, Recognise ours)
    : place_(std::move(place)), path_(place_.string() + kPartial) {
  refuse_foreign(place_, ours);
  before_ = identity_of(place_);
  create(ours);
}

PartialFile::~PartialFile() {
  if (!kept_) ::unlink(path_.c_str());
}

void PartialFile::create(Recognise ours) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    descriptor_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!descriptor_.is_open()) {
      if (errno != EEXIST) fail("create");
      remove_leftover(path_, ours);
    } else if (lock_file(descriptor_.number()) && identity_of(descriptor_.number()) == identity_of(path_)) {
      return;
    }
  }
  throw UserError("'" + path_.string() + "' is being written by another process; wait until that has ended");
}

void PartialFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_.number(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void PartialFile::copy_from(const std::filesystem::path& from, std::string_view mark) {
  const Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> head(mark.size());
  head.resize(read_block(in, from, head));
  write(std::as_bytes(std::span(mark)).first(head.size()));
  std::vector<std::byte> block(kCopyBlock);
  while (const auto n = read_block(in, from, block)) write(std::span(block).first(n));
  if (::fsync(descriptor_.number()) != 0 || ::lseek(descriptor_.number(), 0, SEEK_SET) != 0) fail("write");
  write(head);
}

void PartialFile::sync() {
  if (::fsync(descriptor_.number()) != 0) fail("write");
  sync_folder(path_.parent_path());
}

void PartialFile::publish() {
  kept_ = true;
  if (!before_) {
    if (!rename_to_free_name(path_, place_)) refuse_newcomer();
    return;
  }
  if (const auto now = identity_of(place_); now && now != before_) refuse_newcomer();
  rename_durably(path_, place_);
}

void PartialFile::refuse_newcomer() const {
  throw UserError("'" + place_.string() +
                  "' was created by another process meanwhile; it is left as it is, and the output is in '" +
                  path_.string() + "'");
}

void PartialFile::fail(const char* what) const {
  const int error = errno;
  const auto text = "cannot " + std::string(what) + " '" + path_.string() + "': " + std::strerror(error);
  if (means_full(error)) throw DiskFull(text);
  throw UserError(text);
}

void write_text_file(const std::filesystem::path& place, const std::string& text, Recognise ours) {
  PartialFile file(place, ours);
  file.write(std::as_bytes(std::span(text)));
  file.sync();
  file.publish();
}

}  // namespace eventloom
