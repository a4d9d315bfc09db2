#include "core/definitions/causal_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

namespace eventloom {

namespace {

bool are_partners(const PlacedHit& a, const PlacedHit& b, double speed, Tick slack) {
  const Tick apart = a.time < b.time ? b.time - a.time : a.time - b.time;
  if (apart <= slack) return true;
  const double x = a.place.x - b.place.x;
  const double y = a.place.y - b.place.y;
  const double z = a.place.z - b.place.z;
  return static_cast<double>(apart) <= std::sqrt(x * x + y * y + z * z) / speed + static_cast<double>(slack);
}

struct Member {
  PlacedHit hit;
  std::size_t partners = 0;  ///< partners among the remaining members
};

}  // namespace

std::uint64_t causal_set_size(std::span<const PlacedHit> hits, double speed, Tick slack) {
  std::vector<Member> members;
  for (const auto& hit : hits) members.push_back({hit});
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      const std::size_t pair = are_partners(members[i].hit, members[j].hit, speed, slack) ? 1 : 0;
      members[i].partners += pair;
      members[j].partners += pair;
    }
  }
  while (!members.empty()) {
    const auto last = std::ranges::min_element(members.rbegin(), members.rend(), {}, &Member::partners);
    if (last->partners + 1 == members.size()) break;
    const PlacedHit out = last->hit;
    members.erase(std::next(last).base());
    for (auto& member : members) member.partners -= are_partners(out, member.hit, speed, slack) ? 1 : 0;
  }
  return members.size();
}

}  // namespace eventloom
