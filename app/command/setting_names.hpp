#pragma once

#include "core/runtime/setting.hpp"

namespace eventloom {

/// The options behind the settings that messages of core name, in the order of Setting.
inline constexpr SettingNames kOptionNames = {
    "--builders",   "--cell-size", "--dead-link",   "--define",        "--detector", "--duration", "--epochs-per-slice",
    "--filter",     "--filters",   "--flush-after", "--group",         "--nodes",    "--overlap",  "--resume",
    "--ring-depth", "--schedule",  "--slow-link",   "--stall-timeout", "--topology"};
static_assert(!kOptionNames.back().empty());

}  // namespace eventloom
