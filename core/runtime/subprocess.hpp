#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eventloom {

/// All programs of this name in PATH, in its order.
std::vector<std::string> programs_in_path(const std::string& name);
/// Locates a program as a shell would; std::nullopt if there is none that can be executed. A name with a '/' is a path.
std::optional<std::string> find_program(const std::string& name);

/// Path of a program in the folder of the running one; it may not exist.
std::filesystem::path program_beside_this(const std::string& name);

/// Variables, each "NAME=VALUE".
using Environment = std::vector<std::string>;
/// Returns the environment of this process.
Environment own_environment();
/// Returns `environment` with these variables (name, value) set.
Environment with_variables(Environment environment, const std::vector<std::pair<std::string, std::string>>& variables);

/// An in-memory file for the input or output of a program, so that neither side waits for the other. The destructor
/// closes it.
class MemoryFile {
 public:
  /// Creates a file that holds `text`, positioned at its beginning. Throws UserError.
  explicit MemoryFile(const std::string& text = "");
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] int descriptor() const { return file_; }
  /// Returns its contents.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

/// A program to start. It inherits no descriptors of this process except those below; signals have their default
/// actions and are not blocked.
struct Program {
  std::vector<std::string> words;  ///< a path or a name in PATH, and the arguments
  Environment environment = own_environment();
  int input = -1;          ///< descriptor that becomes its standard input; -1: /dev/null
  int output = 1;          ///< descriptor of its standard output
  int errors = 2;          ///< descriptor of its standard error
  bool own_group = false;  ///< its own process group, which signals of the terminal do not reach
  /// It receives SIGTERM when the thread that starts it ends, even if this process is killed.
  bool ends_with_us = false;
};

/// How a child process ended.
struct ChildEnd {
  int exit_code = 0;             ///< also 0 if the system discards the exit status of children
  int signal = 0;                ///< the signal that ended it; 0: it exited
  std::uint64_t peak_bytes = 0;  ///< maximum resident memory
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

  /// Returns how it ended; std::nullopt while it runs. Never blocks. Once the end has been returned, call neither this
  /// nor the next two again.
  std::optional<ChildEnd> poll() { return end(false); }
  ChildEnd wait() { return *end(true); }
  /// Waits, and kills the child at `deadline`; std::nullopt if that was necessary.
  std::optional<ChildEnd> wait_until(std::chrono::steady_clock::time_point deadline);
  /// Kills the child, and its process group if it has its own.
  void kill() const;
  /// Asks the child to end: SIGTERM, likewise.
  void stop() const;

 private:
  std::optional<ChildEnd> end(bool wait) const;
  void signal(int number) const;

  pid_t process_ = -1;
  bool own_group_ = false;
};

}  // namespace eventloom
