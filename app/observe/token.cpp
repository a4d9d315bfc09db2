#include "app/observe/token.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 1024;
constexpr int kPatienceMs = 10'000;

class OpenFile {
 public:
  /// Opens without blocking, even if the other end of a pipe is not open.
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool open_for_reading() const { return fd_ >= 0; }
  [[nodiscard]] bool readable_by_everyone() const {
    struct stat about {};
    return fstat(fd_, &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & S_IROTH) != 0;
  }
  /// Reads up to the end of the first line or the maximum length of a token; empty if the file cannot be read.
  [[nodiscard]] std::string line() const {
    std::string text;
    std::array<char, kLongestToken> piece{};
    while (text.size() <= kLongestToken && text.find('\n') == std::string::npos) {
      const auto n = ::read(fd_, piece.data(), piece.size());
      if (n > 0) {
        text.append(piece.data(), static_cast<std::size_t>(n));
      } else if (n == 0 || errno != EAGAIN || !more_comes()) {
        break;
      }
    }
    return text.substr(0, text.find('\n'));
  }

 private:
  [[nodiscard]] bool more_comes() const {
    pollfd ready{fd_, POLLIN, 0};
    return poll(&ready, 1, kPatienceMs) > 0;
  }

  int fd_;
};

}  // namespace

std::string new_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto word = random();
    for (int shift = 28; shift >= 0; shift -= 4) token += kDigits[word >> shift & 15U];
  }
  return token;
}

std::string token_of_file(const std::string& path) {
  const OpenFile file(path);
  const auto line = file.open_for_reading() ? file.line() : std::string();
  if (line.empty()) throw UserError("cannot read a token from '" + path + "'");
  auto token = checked_token(line, "the token in '" + path + "'");
  if (file.readable_by_everyone()) log::warn("everyone can read the token in '{}'; chmod o-r", path);
  return token;
}

std::string checked_token(const std::string& text, const std::string& where) {
  constexpr const char* kBlanks = " \t\r";
  const auto begin = std::min(text.find_first_not_of(kBlanks), text.size());
  auto token = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  const auto limit = [&](const char* how, std::size_t n) {
    throw UserError(where + " is " + how + " than " + std::to_string(n) + " characters");
  };
  if (token.size() < kShortestToken) limit("shorter", kShortestToken);
  if (token.size() > kLongestToken) limit("longer", kLongestToken);
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(token, printable)) throw UserError(where + " has other than printable ASCII characters");
  return token;
}

}  // namespace eventloom
