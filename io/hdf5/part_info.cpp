#include "io/hdf5/part_info.hpp"

#include <spdlog/fmt/fmt.h>

namespace eventloom {

std::string part_name(const std::filesystem::path& run_file, std::uint32_t writer, std::uint32_t segment) {
  return fmt::format("{}.part-{:04}-{:04}.h5", run_file.stem().string(), writer, segment);
}

}  // namespace eventloom
