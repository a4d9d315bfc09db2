#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/subprocess.hpp"

namespace eventloom {

namespace {

bool is_program(const std::filesystem::path& file) { return access(file.c_str(), X_OK) == 0; }

/// Builds `program` in the folder in which this one was built. Of several processes, such as the ranks of a job, the
/// first one builds; the others wait for it.
void build(const std::filesystem::path& program) {
  const auto folder = program.parent_path();
  const auto name = program.filename().string();
  if (!exists(folder / "CMakeCache.txt")) {
    throw UserError("this command is part of " + name + ", which is not in " + folder.string() + ": install both");
  }
  const int lock = open((folder / (name + ".lock")).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    throw UserError("this command is part of " + name + ", which is not built yet: jobs/setup.sh");
  }
  if (!is_program(program)) {
    log::info("building {} first, once: cmake --build {} --target {}", name, folder.string(), name);
    const auto end = Subprocess({.words = {"cmake", "--build", folder.string(), "--target", name}, .output = 2}).wait();
    if (end.exit_code != 0 || end.signal != 0) {
      throw UserError("this command is part of " + name + ", which could not be built; see above");
    }
  }
  close(lock);
}

/// Replaces this process by the program `name`, which has the command `argv[0]`.
int become(const char* name, int argc, const char* const* argv) {
  const auto program = program_beside_this(name);
  if (!is_program(program)) build(program);
  std::vector<std::string> words{"eventloom"};
  words.insert(words.end(), argv, argv + argc);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  throw std::runtime_error(program.string() + ": " + std::strerror(errno));
}

}  // namespace

int tools_command(int argc, const char* const* argv) { return become("eventloom-tools", argc, argv); }

int view_command(int argc, const char* const* argv) { return become("eventloom-view", argc, argv); }

}  // namespace eventloom
