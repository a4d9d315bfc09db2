#include "io/run_input/part_cursor.hpp"

#include <algorithm>
#include <iterator>

namespace eventloom {

std::vector<std::vector<PartInfo>> chains_of(std::span<const PartInfo> parts) {
  std::vector<PartInfo> sorted;
  std::ranges::copy_if(parts, std::back_inserter(sorted), [](const PartInfo& part) { return part.slices > 0; });
  std::ranges::sort(sorted, {}, &PartInfo::first_slice);

  std::vector<std::vector<PartInfo>> chains;
  using End = std::pair<std::uint64_t, std::size_t>;  // last slice of a chain, its number
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (auto& part : sorted) {
    std::size_t chain = chains.size();
    if (!ends.empty() && ends.top().first < part.first_slice) {
      chain = ends.top().second;
      ends.pop();
    } else {
      chains.emplace_back();
    }
    ends.emplace(part.last_slice, chain);
    chains[chain].push_back(std::move(part));
  }
  return chains;
}

}  // namespace eventloom
