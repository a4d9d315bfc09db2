#include "io/run_format/part_info.hpp"

#include <algorithm>

#include "core/runtime/format.hpp"

namespace eventloom {

std::string part_name(const std::filesystem::path& run_file, std::uint32_t writer, std::uint32_t segment) {
  return fmt::format("{}.part-{:04}-{:04}.h5", run_file.stem().string(), writer, segment);
}

bool is_part_number(std::string_view text) {
  return text.size() >= 4 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_part_name(std::string_view name) {
  constexpr std::string_view kMark = ".part-";
  const auto mark = name.rfind(kMark);
  if (mark == std::string_view::npos || name.find('/') != std::string_view::npos || !name.ends_with(".h5"))
    return false;
  name.remove_prefix(mark + kMark.size());
  name.remove_suffix(std::string_view(".h5").size());
  const auto dash = name.find('-');
  return dash != std::string_view::npos && is_part_number(name.substr(0, dash)) &&
         is_part_number(name.substr(dash + 1));
}

}  // namespace eventloom
