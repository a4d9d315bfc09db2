#include "io/files/output_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/log.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

using std::chrono::steady_clock;

/// Ranks exit within 5 s after their launcher is killed (Open MPI 4.1).
constexpr auto kLongestWait = std::chrono::seconds(8);
constexpr auto kSilentWait = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr std::string_view kLockHeader = "eventloom-lock: ";

/// The holder that the lock file names.
std::string holder_of(const std::filesystem::path& file) {
  constexpr std::size_t kMost = 400;
  auto text = head_of(file, kMost);
  text.erase(0, std::min(text.size(), kLockHeader.size()));
  return text.substr(0, text.find('\n'));
}

std::string text_of_this_process() { return fmt::format("{}process {} on {}\n", kLockHeader, ::getpid(), host_name()); }

/// Writes the holder. At every moment the file contains the header that identifies it.
bool sign(int file, std::string_view text) {
  const auto size = static_cast<ssize_t>(text.size());
  return ::pwrite(file, text.data(), text.size(), 0) == size && ::ftruncate(file, size) == 0;
}

/// Also accepts an empty file, which its creator is about to sign.
bool may_become_lock(const std::filesystem::path& file) {
  return OutputLock::is_lock(file) || head_of(file, 1).empty();
}

}  // namespace

std::filesystem::path OutputLock::place_for(const std::filesystem::path& output) { return output.string() + ".lock"; }

bool OutputLock::is_lock(const std::filesystem::path& file) { return head_of(file, kLockHeader.size()) == kLockHeader; }

OutputLock::OutputLock(const std::filesystem::path& output) : path_(place_for(output)) {
  const auto begun = steady_clock::now();
  auto waited = steady_clock::duration::zero();
  for (bool reported = false; !take(waited < kSilentWait ? may_become_lock : is_lock);) {
    waited = steady_clock::now() - begun;
    if (waited > kLongestWait) {
      throw UserError(fmt::format("'{}' is being written by another run ({}); end that, or choose another --output",
                                  output.string(), holder_of(path_)));
    }
    if (!reported && waited > kSilentWait && is_lock(path_)) {
      log::info("{}: waiting for another run to end ({})", output.string(), holder_of(path_));
      reported = true;
    }
    std::this_thread::sleep_for(kLook);
  }
}

bool OutputLock::take(Recognise ours) {
  const auto text = text_of_this_process();  // an exception after open() would leave an unsigned lock
  Descriptor open(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  const bool is_new = open.is_open();
  if (!is_new) {
    if (errno != EEXIST) throw UserError("cannot create '" + path_.string() + "': " + std::strerror(errno));
    refuse_foreign(path_, ours);
    if (!is_lock(path_)) return false;
    open = Descriptor(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!open.is_open() && errno == ENOENT) return false;
    if (!open.is_open()) throw UserError("cannot open '" + path_.string() + "': " + std::strerror(errno));
  }
  // A holder removes the file before unlocking it, so the locked file may no longer be the one at path_.
  if (!lock_file(open.number()) || identity_of(open.number()) != identity_of(path_)) return false;
  if (!sign(open.number(), text) && is_new) {
    const int reason = errno;
    ::unlink(path_.c_str());
    throw UserError("cannot write '" + path_.string() + "': " + std::strerror(reason));
  }
  descriptor_ = std::move(open);
  return true;
}

OutputLock::~OutputLock() { ::unlink(path_.c_str()); }

}  // namespace eventloom
