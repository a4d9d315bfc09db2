#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eventloom {

/// Where a shell would find the program; nothing when there is none that can be executed. A name with a '/' is a path.
std::optional<std::string> find_program(const std::string& name);

/// Variables, each "NAME=VALUE".
using Environment = std::vector<std::string>;
/// That of this process.
Environment own_environment();
/// `environment` with these variables (name, value) set.
Environment with_variables(Environment environment, const std::vector<std::pair<std::string, std::string>>& variables);

/// A file in memory, for the input or the output of a program: neither side waits for the other. Closed with the
/// object.
class MemoryFile {
 public:
  /// Holds `text`, to be read from its beginning. Throws UserError.
  explicit MemoryFile(const std::string& text = "");
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] int descriptor() const { return file_; }
  /// All that is in it.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

/// A program to start. It gets no files, ports and devices of this process but the descriptors below; signals have
/// their default actions and are not blocked.
struct Program {
  std::vector<std::string> words;  ///< a path or a name in PATH, and the arguments
  Environment environment = own_environment();
  int input = -1;          ///< the descriptor that becomes its standard input; -1: /dev/null
  int output = 1;          ///< likewise its standard output
  int errors = 2;          ///< likewise its standard error
  bool own_group = false;  ///< a process group of its own: signals of the terminal do not reach it
};

/// How a child process ended.
struct ChildEnd {
  int exit_code = 0;             ///< 0 also where the system discards how children end
  int signal = 0;                ///< the signal that ended it; 0: it exited
  std::uint64_t peak_bytes = 0;  ///< most resident memory
  [[nodiscard]] bool good() const { return signal == 0 && exit_code == 0; }
};

/// A child process. The destructor does not end it.
class Subprocess {
 public:
  /// Starts a program. Throws UserError when that fails.
  explicit Subprocess(const Program& program);
  /// Forks: the child calls `work` and exits with code 0, or 1 when `work` throws. Throws UserError.
  explicit Subprocess(const std::function<void()>& work);
  Subprocess(Subprocess&&) = default;
  Subprocess& operator=(Subprocess&&) = default;

  /// How it ended; nothing while it runs. Never blocks. Not to be called again once it has ended, nor the next two.
  std::optional<ChildEnd> poll() { return end(false); }
  ChildEnd wait() { return *end(true); }
  /// Nothing when it had to be killed at `deadline`.
  std::optional<ChildEnd> wait_until(std::chrono::steady_clock::time_point deadline);
  /// With its process group, if that is its own.
  void kill() const;

 private:
  std::optional<ChildEnd> end(bool wait) const;

  pid_t process_ = -1;
  bool own_group_ = false;
};

}  // namespace eventloom
