#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eventloom {

/// Settings that messages of core refer to. The program names them, for example after its options.
enum class Setting : std::uint8_t {
  builders,
  cell_size,
  dead_link,
  dead_time,
  define,
  detector,
  duration,
  epochs_per_slice,
  filter,
  filter_command,
  filters,
  flush_after,
  group,
  hist,
  nodes,
  overlap,
  reply_if,
  ring_depth,
  schedule,
  slow_link,
  stall_timeout,
  topology
};
using SettingNames = std::array<std::string_view, static_cast<std::size_t>(Setting::topology) + 1>;

/// The names of all settings, empty until the program sets them at its start.
inline SettingNames& setting_names() {
  static SettingNames names;
  return names;
}
inline std::string name_of(Setting setting) { return std::string(setting_names()[static_cast<std::size_t>(setting)]); }

}  // namespace eventloom
