#include "app/output_place.hpp"

#include <filesystem>

#include "core/runtime/error.hpp"

namespace eventloom {

void create_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw UserError("cannot create the folder '" + path + "': " + error.message());
}

void refuse_existing(const std::string& path, bool force) {
  // A path that cannot be looked at is left to the writer, which says why.
  std::error_code error;
  if (!force && std::filesystem::exists(path, error)) {
    throw UserError("'" + path + "' exists; say --force to overwrite it");
  }
}

}  // namespace eventloom
