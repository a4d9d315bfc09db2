#include "app/output_place.hpp"

#include <filesystem>

#include "core/runtime/error.hpp"

namespace eventloom {

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw UserError("cannot create the folder '" + path + "': " + error.message());
}

}  // namespace eventloom
