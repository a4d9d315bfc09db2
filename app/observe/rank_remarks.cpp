#include "app/observe/rank_remarks.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "app/observe/snapshot_rates.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr double kSilent = 2;  // s
constexpr double kFullyUsed = 0.9;
constexpr double kHalfUsed = 0.5;
constexpr double kHardlyUsed = 0.1;

/// Minimum and maximum of several shares.
struct FillRange {
  double least = 1;
  double most = 0;
  void add(double share) {
    least = std::min(least, share);
    most = std::max(most, share);
  }
};

double fill(const LinkRow& link) {
  return link.depth == 0 ? 0 : static_cast<double>(link.cells) / static_cast<double>(link.depth);
}

/// Fill levels of the rings, now and some seconds ago: only lasting conditions matter.
struct Rings {
  std::map<std::uint32_t, FillRange> to_builder;
  std::map<std::size_t, FillRange> from_rank;

  explicit Rings(const RunSnapshot& snapshot) {
    for (std::size_t r = 0; r < snapshot.now.ranks().size(); ++r) {
      for (const auto& [builder, link] : snapshot.now.ranks()[r].links) {
        for (const auto& row : {link, row_before(snapshot, &RankRecord::links, r, builder)}) {
          to_builder[builder].add(fill(row));
          from_rank[r].add(fill(row));
        }
      }
    }
  }
};

struct Builder {
  std::size_t rank = 0;
  double busy = 0;  ///< share of its time
};

std::map<std::uint32_t, Builder> builders_of(const RunSnapshot& snapshot) {
  std::map<std::uint32_t, Builder> builders;
  for (std::size_t r = 0; r < snapshot.now.ranks().size(); ++r) {
    for (const auto& [number, row] : snapshot.now.ranks()[r].builders) {
      builders[number] = {r, busy_share(snapshot, r, row)};
    }
  }
  return builders;
}

class Remarks {
 public:
  explicit Remarks(std::size_t ranks) : of_ranks_(ranks) {}
  void add(std::size_t rank, const std::string& words) {
    if (rank >= of_ranks_.size()) return;
    auto& of = of_ranks_[rank];
    of += (of.empty() ? "" : "; ") + words;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(of_ranks_); }

 private:
  std::vector<std::string> of_ranks_;
};

/// Whether there are other entries and all of them satisfy `condition`.
template <class Map, class Condition>
bool all_others(const Map& map, const typename Map::key_type& key, Condition condition) {
  return map.size() > 1 &&
         std::ranges::all_of(map, [&](const auto& item) { return item.first == key || condition(item.second); });
}

void add_slow_builders(const Rings& rings, const std::map<std::uint32_t, Builder>& builders, Remarks& remarks) {
  for (const auto& [number, builder] : builders) {
    const auto own = rings.to_builder.find(number);
    const bool full = own != rings.to_builder.end() && own->second.least >= kFullyUsed;
    if (full && all_others(rings.to_builder, number, [](const FillRange& range) { return range.least < kFullyUsed; })) {
      remarks.add(builder.rank, fmt::format("builder {} is slow: its rings are full, those of others are not", number));
    } else if (builder.busy >= kFullyUsed &&
               all_others(builders, number, [](const Builder& b) { return b.busy < kHalfUsed; })) {
      remarks.add(builder.rank, fmt::format("builder {} is slow: it is busy, the others wait", number));
    }
  }
}

void add_slow_sources(const Rings& rings, const std::map<std::uint32_t, Builder>& builders, Remarks& remarks) {
  const bool waiting = std::ranges::all_of(builders, [](const auto& b) { return b.second.busy < kHalfUsed; });
  if (!waiting) return;
  for (const auto& [rank, range] : rings.from_rank) {
    if (range.most > kHardlyUsed) continue;
    if (!all_others(rings.from_rank, rank, [](const FillRange& other) { return other.least >= kHalfUsed; })) continue;
    remarks.add(rank, "its sources are slow: the builders wait for them, and have data of all others");
  }
}

}  // namespace

std::vector<std::string> rank_remarks(const RunDescription& run, const RunSnapshot& snapshot) {
  Remarks remarks(run.ranks.size());
  for (std::size_t r = 0; r < snapshot.silent_s.size(); ++r) {
    if (snapshot.silent_s[r] >= kSilent) remarks.add(r, fmt::format("silent for {:.0f} s", snapshot.silent_s[r]));
  }
  // While one rank is silent, the data of the others may be old.
  const bool all_speak = std::ranges::none_of(snapshot.silent_s, [](double s) { return s >= kSilent; });
  if (snapshot.condition.state == "running" && all_speak) {
    const Rings rings(snapshot);
    const auto builders = builders_of(snapshot);
    add_slow_builders(rings, builders, remarks);
    add_slow_sources(rings, builders, remarks);
  }
  return remarks.take();
}

}  // namespace eventloom
