#pragma once

#include <span>
#include <string>
#include <string_view>

namespace eventloom {

/// The candidate probably meant by `name`: the first with the fewest typing errors (a missing, surplus or wrong
/// character, or a swap of two; case is ignored), at most one per three characters; otherwise the first that
/// begins with `name`. Empty if there is none.
std::string_view closest(std::string_view name, std::span<const std::string_view> candidates);

/// Returns " (did you mean 'X'?)" for a message about a name; empty if there is no suggestion, or the name is a
/// candidate.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace eventloom
