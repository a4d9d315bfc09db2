#pragma once

#include <span>
#include <string>
#include <string_view>

namespace eventloom {

/// The candidate that was probably meant by `name`: the first of those with the fewest typing errors (a character that
/// is missing, surplus or wrong, or two that are swapped; case does not count), at most one in three characters; else
/// the first that begins with `name`. Empty when there is none.
std::string_view closest(std::string_view name, std::span<const std::string_view> candidates);

/// " (did you mean 'X'?)" for a message about a name; empty when nothing was probably meant, or the name is a
/// candidate.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace eventloom
