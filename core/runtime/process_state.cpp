#include "core/runtime/process_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace eventloom {

namespace {

/// Fields 3 and 22 of /proc/PID/stat.
struct Stat {
  char state = '?';
  std::uint64_t start_time = 0;
};

std::optional<Stat> parse_stat(std::string_view line) {
  // The name, field 2, may contain blanks and brackets.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return std::nullopt;
  line.remove_prefix(name_end + 2);
  Stat stat;
  stat.state = line.front();
  constexpr int kFieldsBetween = 22 - 3;
  for (int field = 0; field < kFieldsBetween; ++field) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    line.remove_prefix(blank + 1);
  }
  const auto read = std::from_chars(line.data(), line.data() + line.size(), stat.start_time);
  if (read.ec != std::errc{}) return std::nullopt;
  return stat;
}

std::optional<Stat> read_stat(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text;  // the fields up to the 22nd take less than 600 characters
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  if (length <= 0) return std::nullopt;
  return parse_stat(std::string_view(text.data(), static_cast<std::size_t>(length)));
}

ProcessState meaning(char state) {
  switch (state) {
    case 'T':
    case 't': return ProcessState::stopped;
    case 'D': return ProcessState::waiting_for_disk;
    case 'Z':
    case 'X':
    case 'x': return ProcessState::dead;
    default: return ProcessState::running;
  }
}

}  // namespace

ProcessId this_process() {
  const int pid = getpid();
  const std::optional<Stat> stat = read_stat(pid);
  return {pid, stat ? stat->start_time : 0};
}

ProcessState process_state(const ProcessId& process) {
  if (process.pid <= 0) return ProcessState::dead;
  const std::optional<Stat> stat = read_stat(process.pid);
  if (!stat) {
    const bool exists = kill(process.pid, 0) == 0 || errno != ESRCH;
    return exists ? ProcessState::running : ProcessState::dead;
  }
  if (process.start_time != 0 && stat->start_time != process.start_time) return ProcessState::dead;
  return meaning(stat->state);
}

}  // namespace eventloom
