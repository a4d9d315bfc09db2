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

constexpr const char* kTools = "eventloom-tools";

bool is_program(const std::filesystem::path& file) { return access(file.c_str(), X_OK) == 0; }

/// Builds eventloom-tools in the folder in which this program was built. Of several processes, such as the ranks of a
/// job, the first one builds; the others wait for it.
void build_tools(const std::filesystem::path& program) {
  const auto folder = program.parent_path();
  if (!exists(folder / "CMakeCache.txt")) {
    throw UserError("this command is part of " + std::string(kTools) + ", which is not in " + folder.string() +
                    ": install both");
  }
  const int lock = open((folder / "tools.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    throw UserError("this command is part of " + std::string(kTools) + ", which is not built yet: jobs/setup.sh");
  }
  if (!is_program(program)) {
    log::info("building {} first, once: cmake --build {} --target {}", kTools, folder.string(), kTools);
    const auto end =
        Subprocess({.words = {"cmake", "--build", folder.string(), "--target", kTools}, .output = 2}).wait();
    if (end.exit_code != 0 || end.signal != 0) {
      throw UserError("this command is part of " + std::string(kTools) + ", which could not be built; see above");
    }
  }
  close(lock);
}

}  // namespace

int tools_command(int argc, const char* const* argv) {
  const auto program = program_beside_this(kTools);
  if (!is_program(program)) build_tools(program);
  std::vector<std::string> words{"eventloom"};
  words.insert(words.end(), argv, argv + argc);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  throw std::runtime_error(program.string() + ": " + std::strerror(errno));
}

}  // namespace eventloom
