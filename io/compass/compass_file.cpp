#include "io/compass/compass_file.hpp"

#include "io/compass/compass_binary.hpp"
#include "io/compass/compass_text.hpp"
#include "io/files/file_head.hpp"

namespace eventloom {

std::unique_ptr<CompassFile> open_compass_file(const SourceUri& uri) {
  const bool names_columns = CompassColumns::of_header(uri.get("header", "")).has_value();
  if (names_columns || begins_compass_text(file_head(uri.path()))) return std::make_unique<CompassTextFile>(uri);
  return std::make_unique<CompassBinaryFile>(uri);
}

}  // namespace eventloom
