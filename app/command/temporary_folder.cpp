#include "app/command/temporary_folder.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is of POSIX

#include <cerrno>
#include <cstring>

#include "core/runtime/error.hpp"

namespace eventloom {

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  auto name = (std::filesystem::temp_directory_path(error) / ("eventloom-" + purpose + "-XXXXXX")).string();
  if (error) throw UserError("no folder for temporary files: " + error.message() + "; set TMPDIR to one");
  if (::mkdtemp(name.data()) == nullptr) throw UserError("cannot create '" + name + "': " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace eventloom
