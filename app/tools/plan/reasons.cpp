#include "app/tools/plan/reasons.hpp"

#include <algorithm>
#include <array>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

double in_millions(double hits) { return hits / 1e6; }

std::uint32_t rank_count(const Plan& plan) { return static_cast<std::uint32_t>(plan.placement.roles.ranks); }

std::string why_ranks(const Plan& plan) {
  const auto& request = plan.request;
  const std::uint32_t cores = request.nodes * request.cores_per_node;
  auto text =
      fmt::format("{} of {} cores: one rank per core, because ranks poll and two on a core would delay each other",
                  rank_count(plan), cores);
  if (request.usable_cores() < request.cores_per_node) text += "; the last core of a node is reserved for the system";
  return text;
}

std::string why_placement(const Plan& plan) {
  if (plan.placement.nodes == 1) return "role k runs on rank k mod np, rank r on core r";
  auto text = fmt::format(
      "role k runs on rank k mod np and rank r on node r mod {}, so that sources and builders are on every node, both "
      "directions of each link are used and all-to-all traffic is even",
      plan.placement.nodes);
  if (plan.placement.roles.sources < plan.placement.nodes) {
    text += fmt::format("; {} nodes have no source, as there are fewer sources than nodes",
                        plan.placement.nodes - plan.placement.roles.sources);
  }
  return text;
}

std::string why_sources(const Plan& plan) {
  const auto& placement = plan.placement;
  const auto sources = placement.roles.sources;
  if (sources > rank_count(plan)) {
    return fmt::format("{} sources on {} ranks, up to {} share one: there are no more cores", sources, rank_count(plan),
                       (sources + rank_count(plan) - 1) / rank_count(plan));
  }
  if (placement.builders_beside_sources() == 0) {
    return "each has its own rank: a source that waits for its disk then does not delay a builder, and vice versa";
  }
  return fmt::format("each on another rank; {} of these also build, because there are no cores for both",
                     placement.builders_beside_sources());
}

/// Describes the rate of a core and its origin.
std::string core_rate(const Plan& plan) {
  return fmt::format("a core handles {:.1f} with {} sources (derived from measured runs and stages; 37.5 with 4)",
                     in_millions(hits_per_core(plan.request.sources)), plan.request.sources);
}

std::string why_builders_by_rate(const Plan& plan) {
  const auto& request = plan.request;
  const auto builders = plan.placement.roles.builders;
  auto text = fmt::format("{} x {:.4g} million hits/s arrive, {}", request.sources,
                          in_millions(*request.hits_per_second), core_rate(plan));
  if (plan.placement.builders_missing != 0) {
    return text + fmt::format("; this needs {} builders, but there are cores for {}: the run will be slower",
                              builders + plan.placement.builders_missing, builders);
  }
  return text + (plan.placement.nodes > 1 ? "; rounded up to as many on every node" : "");
}

std::string why_builders(const Plan& plan) {
  const auto& roles = plan.placement.roles;
  if (plan.request.hits_per_second) return why_builders_by_rate(plan);
  const auto rate = fmt::format("{} x {:.1f} million hits/s: {}", roles.builders,
                                in_millions(hits_per_core(roles.sources)), core_rate(plan));
  if (plan.placement.builders_beside_sources() != 0) {
    return "as many as sources, or ranks if these are fewer, so that all-to-all is even; " + rate;
  }
  if (rank_count(plan) + plan.placement.nodes <= plan.request.nodes * plan.request.usable_cores()) {
    return "more could not be fed: a file is read at 4.9 GB/s at best (measured, page cache); " + rate;
  }
  return fmt::format(
      "all cores that the sources leave{}, because building takes most of the time; {}; "
      "--hits-per-second shows whether fewer suffice",
      plan.placement.nodes > 1 ? ", as many on every node" : "", rate);
}

std::string why_filters(const Plan& plan) {
  const auto& roles = plan.placement.roles;
  if (roles.filters != 0) {
    return fmt::format(
        "as requested; they select and write, so that the run has {} part files at a time and builders do not wait for "
        "the "
        "disk",
        roles.filters);
  }
  return fmt::format(
      "none: builders select and write, events are not sent again; {} part files at a time, with --filters N it is "
      "N",
      roles.builders);
}

std::string why_simulated(const Plan& plan, const SimulatedSchedule& best) {
  const auto slots =
      best.slot_ns == 0 ? "" : fmt::format(" with slots of {:.1f} us", static_cast<double>(best.slot_ns) / 1000);
  auto text = fmt::format("simulated on {} nodes, messages of {}: {}{} reaches {:.1f} % of what the links allow",
                          plan.request.nodes, in_bytes(static_cast<double>(best.message_bytes)), best.name, slots,
                          100 * best.share);
  if (!best.next.empty()) text += fmt::format("; the next best, {}, {:.1f} %", best.next, 100 * best.next_share);
  if (!best.left_out.empty()) text += "; left out: " + best.left_out;
  if (best.slot_ns != 0) text += "; slots leave no room for builders that need different times, see --jitter";
  if (plan.placement.builders_unequal()) text += "; not simulated: builders beside sources are slower than the others";
  return text;
}

std::string why_schedule(const Plan& plan) {
  if (plan.request.simulated) return why_simulated(plan, *plan.request.simulated);
  if (plan.placement.builders_unequal()) {
    return "builders beside sources are slower than the others, and claim fewer slices (measured with one of 4 half as "
           "fast: balanced 99 %, round-robin 57 % of what is possible)";
  }
  return "builders are alike: the barrel shifter has no two sources at one builder in a slot, and costs no claims";
}

std::string why_ring(const Plan& plan) {
  const auto& ring = plan.choice.ring;
  const double bytes = static_cast<double>(ring.geometry().ring_bytes());
  const double all = bytes * static_cast<double>(plan.rings_of_a_rank());
  const double l2 = static_cast<double>(plan.request.l2_cache);
  auto text =
      fmt::format("{} a ring, {} rings end on a rank: {}", in_bytes(bytes), plan.rings_of_a_rank(), in_bytes(all));
  const auto message = message_bytes(plan.request, plan.choice.epochs_per_slice);
  const auto held = ring.messages(message.value_or(kUnknownMessage));
  text += fmt::format("; a ring holds {} of {}", held == 0 ? "no message" : fmt::format("{} messages", held),
                      in_bytes(static_cast<double>(message.value_or(kUnknownMessage))));
  text += message ? "" : " (assumed: --hits-per-second shows how many they have)";
  if (held < 2) text += ", with two the next would be on its way while a builder takes one";
  if (all <= l2) {
    text += fmt::format("; all are in the second-level cache of {}", in_bytes(l2));
  } else if (bytes <= l2) {
    text += fmt::format("; one ring at a time fits the second-level cache of {}", in_bytes(l2));
  }
  return text;
}

std::string why_slices(const Plan& plan) {
  const auto one = buffer_bytes(plan.request, plan.choice.epochs_per_slice);
  if (!one) return "the defaults; --hits-per-second adapts them to the rate";
  return fmt::format(
      "epoch buffers of {} (with an epoch before and after): sending 1, 16, 64 KiB reaches 52, 80, 92 % of "
      "bare put (measured); a builder gathers {} slices of {} at a time",
      in_bytes(*one), plan.choice.slices_in_flight, in_bytes(*one * plan.request.sources));
}

std::string why_reduced(const Plan& plan) {
  const auto& from = plan.wanted;
  const auto& to = plan.choice;
  std::string text;
  const auto add = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after) text += fmt::format("{} {} {} instead of {}", text.empty() ? "" : ",", what, after, before);
  };
  add("ring depth", std::to_string(from.ring.depth), std::to_string(to.ring.depth));
  add("cells of", in_bytes(static_cast<double>(from.ring.cell_size)), in_bytes(static_cast<double>(to.ring.cell_size)));
  add("slices in flight", std::to_string(from.slices_in_flight), std::to_string(to.slices_in_flight));
  return "; reduced to fit --memory-per-node:" + text;
}

std::string why_memory(const Plan& plan) {
  std::string text = "rings are exact, the rest is estimated from 62 MB, the peak of a rank in a whole run (measured)";
  if (!plan.request.hits_per_second) text += "; slices in flight add to this, --hits-per-second shows how much";
  return plan.reduced() ? text + why_reduced(plan) : text;
}

}  // namespace

std::string in_bytes(double bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, kUnits.at(unit));
}

std::vector<Reason> reasons(const Plan& plan) {
  return {{"ranks", why_ranks(plan)},       {"placement", why_placement(plan)}, {"sources", why_sources(plan)},
          {"builders", why_builders(plan)}, {"filters", why_filters(plan)},     {"schedule", why_schedule(plan)},
          {"rings", why_ring(plan)},        {"slices", why_slices(plan)},       {"memory", why_memory(plan)}};
}

}  // namespace eventloom
