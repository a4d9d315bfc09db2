#pragma once

#include <string_view>

namespace eventloom {

/// Natural order of names: runs of digits compare as numbers (`run5_2` before `run5_10`), everything else as bytes.
/// Names that differ only in leading zeros compare as bytes, so that no two different names are equal.
bool comes_before(std::string_view a, std::string_view b);

}  // namespace eventloom
