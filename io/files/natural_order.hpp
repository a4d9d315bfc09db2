#pragma once

#include <string_view>

namespace eventloom {

/// Orders names as people do: runs of digits compare as numbers (`run5_2` before `run5_10`), everything else by bytes.
/// Names that differ only in leading zeros follow the order of their bytes, so that no two names are equal.
bool comes_before(std::string_view a, std::string_view b);

}  // namespace eventloom
