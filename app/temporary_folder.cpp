#include "app/temporary_folder.hpp"

#include <unistd.h>

#include "core/runtime/error.hpp"

namespace eventloom {

TemporaryFolder::TemporaryFolder(const std::string& purpose)
    : path_(std::filesystem::temp_directory_path() / ("eventloom-" + purpose + "-" + std::to_string(getpid()))) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw UserError("cannot create '" + path_.string() + "': " + error.message());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace eventloom
