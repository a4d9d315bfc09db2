#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/runtime/setting.hpp"

namespace eventloom {

/// The options behind the settings that messages of core name.
constexpr SettingNames option_names() {
  SettingNames names;
  const auto set = [&](Setting setting, std::string_view option) { names[static_cast<std::size_t>(setting)] = option; };
  set(Setting::builders, "--builders");
  set(Setting::cell_size, "--cell-size");
  set(Setting::dead_link, "--dead-link");
  set(Setting::dead_time, "--dead-time");
  set(Setting::define, "--define");
  set(Setting::detector, "--detector");
  set(Setting::duration, "--duration");
  set(Setting::epochs_per_slice, "--epochs-per-slice");
  set(Setting::filter, "--filter");
  set(Setting::filter_command, "--filter-command");
  set(Setting::filters, "--filters");
  set(Setting::flush_after, "--flush-after");
  set(Setting::group, "--group");
  set(Setting::hist, "--hist");
  set(Setting::nodes, "--nodes");
  set(Setting::overlap, "--overlap");
  set(Setting::reply_if, "--reply-if");
  set(Setting::ring_depth, "--ring-depth");
  set(Setting::schedule, "--schedule");
  set(Setting::slow_link, "--slow-link");
  set(Setting::stall_timeout, "--stall-timeout");
  set(Setting::topology, "--topology");
  return names;
}
static_assert(std::ranges::none_of(option_names(), &std::string_view::empty), "a setting has no option");

}  // namespace eventloom
