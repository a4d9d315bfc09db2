#include "app/observe/viewers.hpp"

#include <algorithm>

namespace eventloom {

void Viewers::looked(const std::string& name, bool at_the_end, Time now) {
  std::erase_if(looks_, [&](const auto& look) { return now - look.second.last > kLooking; });
  if (looks_.size() < kMost || looks_.contains(name)) looks_[name] = {now, at_the_end};
}

bool Viewers::all_saw_the_end(Time now) const {
  return std::ranges::all_of(
      looks_, [&](const auto& look) { return look.second.at_the_end || now - look.second.last > kLooking; });
}

}  // namespace eventloom
