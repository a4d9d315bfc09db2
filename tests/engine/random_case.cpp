#include "random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

namespace eventloom::test {

std::uint64_t CaseMaker::draw(std::uint64_t least, std::uint64_t most) {
  return least + random_() % (most - least + 1);
}

RunCase CaseMaker::any() {
  RunCase of;
  of.simulation.seed = seed_;
  of.simulation.far = seed_ % 2 == 0;
  of.transfers_in_flight = seed_ % 4 == 0 ? static_cast<std::uint32_t>(1 + seed_ / 4 % 3) : 0;
  choose_roles(of);
  of.roles.filters = draw(0, 1) == 0 ? 0 : static_cast<std::uint32_t>(draw(1, 3));
  of.ring = {static_cast<std::uint32_t>(draw(2, 8)), static_cast<std::uint32_t>(64 * draw(3, 16))};
  of.slices_in_flight = static_cast<std::uint32_t>(draw(1, 4));
  of.epochs_per_slice = draw(1, 5);
  choose_definition(of);
  if (draw(0, 2) == 0) of.filter = {"n_hits>=" + std::to_string(draw(2, 5))};
  const Tick end(draw(1, 60) * of.base.epoch_ticks);
  for (std::uint32_t s = 0; s < of.roles.sources; ++s) {
    of.hits.push_back(hits_of(static_cast<std::uint16_t>(s), end, draw(0, 2) == 0));
  }
  for (auto n = draw(0, 2); n > 0; --n) {
    RunCase other;
    choose_definition(other);
    of.further.push_back({other.definition, other.overlap});
  }
  return of;
}

RunCase CaseMaker::steady(std::uint64_t slices) {
  RunCase of;
  of.simulation.seed = seed_;
  choose_roles(of);
  of.epochs_per_slice = draw(2, 4);
  choose_definition(of);
  of.overlap = std::min(of.overlap, of.geometry().slice_ticks());
  const Tick end = slices * of.geometry().slice_ticks();
  for (std::uint32_t s = 0; s < of.roles.sources; ++s) {
    std::vector<RefHit> hits;
    for (Tick time(s); time < end; time += Tick(draw(5, 80)))
      hits.push_back({time, s, {}, static_cast<std::uint16_t>(s)});
    hits.push_back({end - 1, s, {}, static_cast<std::uint16_t>(s)});
    of.hits.push_back(std::move(hits));
  }
  return of;
}

void CaseMaker::choose_roles(RunCase& of) {
  of.roles.sources = static_cast<std::uint32_t>(draw(1, 5));
  of.roles.builders = static_cast<std::uint32_t>(draw(1, 4));
  of.roles.ranks = of.simulation.ranks = static_cast<int>(draw(1, of.roles.sources + of.roles.builders));
}

void CaseMaker::choose_definition(RunCase& of) {
  of.overlap = Tick(draw(40, draw(0, 3) == 0 ? 1000 : 200));
  const auto kind = draw(0, 6);
  const auto widening = [this] { return "," + std::to_string(draw(0, 20)) + "," + std::to_string(draw(0, 20)); };
  if (kind < 4) {
    of.definition = "gap:" + std::to_string(draw(0, 20)) + "," + std::to_string(draw(1, 3));
    if (kind == 3) of.definition += widening();
    return;
  }
  if (kind == 4) {
    constexpr std::array kConditions = {"n_hits>=3", "sources>=2", "A>=1&&B>=2", "B>=1&&none==0||n_hits<2",
                                        "source:0-1>=2&&channel:0x0-0x1f4>=1"};
    of.definition = "coincidence:" + std::to_string(draw(0, 20)) + "," + kConditions[draw(0, kConditions.size() - 1)];
    if (draw(0, 1) != 0) of.definition += widening();
    return;
  }
  const auto width = draw(2, 10);
  of.definition = "multiplicity:" + std::to_string(width) + "," + std::to_string(draw(1, 3)) + "," +
                  std::to_string(draw(0, 2)) + "," + std::to_string(draw(0, 2));
}

/// Clusters, so that events have hits from several sources.
std::vector<RefHit> CaseMaker::hits_of(std::uint16_t source, Tick end, bool holes) {
  const auto hole = holes ? TickRange{end / 4, end / 4 * 3} : TickRange{};
  std::mt19937_64 common(seed_);
  std::vector<RefHit> hits;
  for (std::uint64_t cluster = draw(0, end.value / 50); cluster > 0; --cluster) {
    const Tick at(common() % end.value);
    for (auto n = draw(0, 4); n > 0; --n) {
      const Tick time = std::min(at + Tick(draw(0, 30)), end - 1);
      if (!hole.contains(time)) hits.push_back({time, static_cast<std::uint32_t>(draw(0, 999)), {}, source});
    }
  }
  std::ranges::stable_sort(hits, {}, &RefHit::time);
  return hits;
}

void CaseMaker::vary(RunCase& of) {
  vary_times(of);
  if (draw(0, 1) == 0) give_payload(of);
  const bool all_channels = draw(0, 1) == 0;
  for (auto& stream : of.hits) {
    for (auto& hit : stream) {
      if (all_channels) hit.channel = static_cast<std::uint32_t>(draw(0, 0xfffffff));
    }
  }
  choose_filters(of);
  if (draw(0, 5) == 0) of.definition = "tag";
  if (draw(0, 5) == 0) of.further.push_back({"tag", Tick(draw(0, 100))});
  if (of.definition != "tag" && draw(0, 4) == 0) of.definition = std::string(kPerSource) + of.definition;
}

/// Where time begins, the length of an epoch, equal times, and the order within an epoch.
void CaseMaker::vary_times(RunCase& of) {
  constexpr std::array<std::uint32_t, 4> kEpochs = {100, 64, 1000, 300};
  of.base.epoch_ticks = kEpochs[draw(0, 3)];
  // Epoch numbers have 28 bits on the wire: some runs pass the end of that range.
  const Tick wraps((std::uint64_t{1} << 28) * of.base.epoch_ticks - draw(0, 3000));
  const Tick begin =
      std::array{Tick(0), Tick(0), Tick(draw(0, 1'000'000)), wraps, Tick(std::uint64_t{1} << 44U)}[draw(0, 4)];
  const std::uint64_t step = draw(0, 3) == 0 ? draw(2, 40) : 1;
  const bool shuffles = draw(0, 3) == 0;
  Tick first = std::numeric_limits<Tick>::max();
  for (auto& stream : of.hits) {
    for (auto& hit : stream) {
      hit.time = begin + Tick(hit.time.value / step * step);
      first = std::min(first, hit.time);
    }
    if (shuffles) std::ranges::shuffle(stream, random_);
    const Tick sorted_by(shuffles ? of.base.epoch_ticks : 1);
    std::ranges::stable_sort(stream, {}, [&](const RefHit& hit) { return hit.time / sorted_by; });
  }
  if (first != std::numeric_limits<Tick>::max())
    of.first_slice = of.geometry().slice_of(epoch_of(first, of.base.epoch_ticks));
}

void CaseMaker::give_payload(RunCase& of) {
  for (std::size_t s = 0; s < of.hits.size(); ++s) {
    of.payload.push_back(static_cast<std::uint8_t>(draw(0, 3)));
    for (auto& hit : of.hits[s]) {
      for (auto n = of.payload.back(); n > 0; --n) hit.payload.push_back(static_cast<std::uint32_t>(random_()));
    }
  }
}

void CaseMaker::choose_filters(RunCase& of) {
  constexpr std::array kFilters = {"n_hits>=3",
                                   "duration<15",
                                   "duration>4&&n_hits<6",
                                   "systems>=2",
                                   "channel:0x0-0xfff>=1",
                                   "sources>=2",
                                   "source:1-2>=2||!(n_hits<4)",
                                   "!(A>=1&&B>=1)&&(n_hits!=2||duration==0)",
                                   "sources==1||(channel:0x0-0x7ffffff>=2&&!(source:0-0>=1))"};
  for (auto n = draw(0, 2); n > 0; --n) of.filter.emplace_back(kFilters[draw(0, kFilters.size() - 1)]);
}

void CaseMaker::choose_setup(RunCase& of) {
  of.simulation = {.seed = seed_, .far = draw(0, 1) == 0};
  of.slot_ns = 0;
  of.transfers_in_flight = static_cast<std::uint32_t>(draw(0, 3));
  of.roles.sources = static_cast<std::uint32_t>(of.hits.size());
  of.roles.builders = static_cast<std::uint32_t>(draw(1, 6));
  of.roles.filters = draw(0, 1) == 0 ? 0 : static_cast<std::uint32_t>(draw(1, 3));
  const auto roles = of.roles.sources + of.roles.builders + of.roles.filters;
  of.roles.ranks = of.simulation.ranks = static_cast<int>(draw(1, roles + 2));
  of.ring = {static_cast<std::uint32_t>(draw(1, 8)), static_cast<std::uint32_t>(64 * draw(3, 16))};
  if (draw(0, 5) == 0) of.ring.cell_bytes = 65536;
  of.slices_in_flight = static_cast<std::uint32_t>(draw(1, draw(0, 3) == 0 ? 16 : 4));
  of.threads = draw(0, 5) == 0 ? draw(2, 3) : 1;
  choose_schedule(of);
  if (of.schedule != "round-robin" || draw(0, 2) != 0) return;
  of.slot_ns = 60'000;
  of.simulation.clock_spread_ns = 1'000'000;
  of.simulation.longest_delay_ns = 2'000;
  of.simulation.longest_step_ns = 20'000;
}

void CaseMaker::make_live(RunCase& of, std::int64_t pace_ns, std::int64_t spread_ns) {
  choose_schedule(of);
  of.roles.filters = static_cast<std::uint32_t>(draw(0, 2));
  for (const auto& hits : of.hits) {
    const auto pace = pace_ns + static_cast<std::int64_t>(draw(0, static_cast<std::uint64_t>(spread_ns)));
    auto& arrivals = of.arrivals.emplace_back();
    for (auto& buffer : make_stream(hits, of.base.epoch_ticks, 1)) {
      const auto time = static_cast<std::int64_t>(buffer.header.epochs().end) * pace;
      arrivals.push_back({time, std::move(buffer)});
    }
  }
}

void CaseMaker::choose_schedule(RunCase& of) {
  constexpr std::array kNames = {"round-robin", "chaotic", "unshifted", "balanced"};
  const auto n = draw(0, kNames.size());
  if (n == kNames.size()) return give_table(of);
  of.schedule = kNames[n];
}

void CaseMaker::give_table(RunCase& of) {
  std::ostringstream out;
  for (std::uint32_t s = 0; s < of.roles.sources; ++s) {
    std::vector<std::uint32_t> builders(of.roles.builders);
    std::iota(builders.begin(), builders.end(), 0U);
    std::ranges::shuffle(builders, random_);
    for (const auto builder : builders) out << "0,0," << s << "," << builder << "\n";
  }
  of.schedule = "table:any";
  of.table_text = out.str();
}

}  // namespace eventloom::test
