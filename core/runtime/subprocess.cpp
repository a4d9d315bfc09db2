#include "core/runtime/subprocess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw UserError("cannot " + what + ": " + std::generic_category().message(error));
}

bool can_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns pointers to the texts and a null pointer, as C functions expect them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

pid_t spawn(const Program& program, const std::vector<char*>& words, const std::vector<char*>& environment) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (program.input < 0) posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (program.input >= 0) posix_spawn_file_actions_adddup2(&files, program.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, program.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, program.errors, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const int group = program.own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  pid_t process = -1;
  const int error = posix_spawnp(&process, words.front(), &files, &attributes, words.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail(error, "start " + program.words.front());
  return process;
}

/// Runs in the child of fork() and does what spawn() has posix_spawn do. Every call is safe while other threads of the
/// parent hold locks.
void take_files_and_signals(const Program& program) {
  const int input = program.input < 0 ? ::open("/dev/null", O_RDONLY) : program.input;
  ::dup2(input, STDIN_FILENO);
  ::dup2(program.output, STDOUT_FILENO);
  ::dup2(program.errors, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Starts a program with ends_with_us, which posix_spawn cannot do.
pid_t fork_and_execute(const Program& program, const std::vector<char*>& words, const std::vector<char*>& environment) {
  const auto file = find_program(program.words.front());
  if (!file) fail(ENOENT, "start " + program.words.front());
  const pid_t us = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) fail(errno, "start " + program.words.front());
  if (process > 0) return process;
  if (program.own_group) ::setpgid(0, 0);
  take_files_and_signals(program);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == us) ::execve(file->c_str(), words.data(), environment.data());
  ::_exit(127);
}

}  // namespace

std::vector<std::string> programs_in_path(const std::string& name) {
  std::vector<std::string> programs;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (auto file = (folder.empty() ? "." : folder) + "/" + name; can_run(file)) programs.push_back(std::move(file));
  }
  return programs;
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return can_run(name) ? std::optional(name) : std::nullopt;
  const auto programs = programs_in_path(name);
  return programs.empty() ? std::nullopt : std::optional(programs.front());
}

std::filesystem::path program_beside_this(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

Environment own_environment() {
  Environment environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  return environment;
}

Environment with_variables(Environment environment, const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [name, value] : variables) {
    std::erase_if(environment, [&set = name](const std::string& old) { return old.starts_with(set + "="); });
    environment.push_back(name + "=" + value);
  }
  return environment;
}

MemoryFile::MemoryFile(const std::string& text) : file_(memfd_create("eventloom", MFD_CLOEXEC)) {
  if (file_ < 0) fail(errno, "create a file in memory");
  for (std::size_t done = 0; done < text.size();) {
    const auto n = pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno != EINTR) fail(errno, "write to memory");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

MemoryFile::~MemoryFile() { close(file_); }

std::string MemoryFile::text() const {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const auto n = pread(file_, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

Subprocess::Subprocess(const Program& program) : own_group_(program.own_group) {
  const auto words = pointers(program.words);
  const auto environment = pointers(program.environment);
  process_ = program.ends_with_us ? fork_and_execute(program, words, environment) : spawn(program, words, environment);
}

Subprocess::Subprocess(const std::function<void()>& work) : process_(fork()) {
  if (process_ < 0) fail(errno, "start a process");
  if (process_ > 0) return;
  try {
    work();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

std::optional<ChildEnd> Subprocess::wait_until(std::chrono::steady_clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLongestNap{20};
  for (std::chrono::microseconds nap{100};; nap = std::min<std::chrono::microseconds>(2 * nap, kLongestNap)) {
    if (auto ended = poll()) return ended;
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(nap);
  }
  kill();
  const auto ended = wait();
  return ended.signal == 0 ? std::optional(ended) : std::nullopt;
}

void Subprocess::signal(int number) const { ::kill(own_group_ ? -process_ : process_, number); }

void Subprocess::kill() const { signal(SIGKILL); }

void Subprocess::stop() const { signal(SIGTERM); }

std::optional<ChildEnd> Subprocess::end(bool wait) const {
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  do {
    ended = wait4(process_, &status, wait ? 0 : WNOHANG, &usage);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return std::nullopt;
  if (ended < 0) return ChildEnd{};
  return ChildEnd{WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                  static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

}  // namespace eventloom
