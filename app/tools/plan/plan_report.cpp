#include "app/tools/plan/plan_report.hpp"

#include <algorithm>
#include <array>

#include "app/tools/plan/network.hpp"
#include "app/tools/plan/reasons.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

struct NodeView {
  std::vector<std::uint32_t> ranks, cores, sources, builders, filters;
  std::uint64_t rings = 0;
  std::uint64_t total = 0;
};

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<NodeView> nodes_of(const Plan& plan) {
  std::vector<NodeView> nodes(plan.placement.nodes);
  const auto ranks = roles_by_rank(plan.placement.roles);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const int rank = static_cast<int>(r);
    auto& node = nodes[plan.placement.node_of(rank)];
    node.ranks.push_back(static_cast<std::uint32_t>(r));
    node.cores.push_back(plan.placement.core_of(rank));
    append(node.sources, ranks[r].sources);
    append(node.builders, ranks[r].builders);
    append(node.filters, ranks[r].filters);
    node.rings += plan.memory[r].rings;
    node.total += plan.memory[r].total();
  }
  for (auto& node : nodes) {
    for (auto* list : {&node.sources, &node.builders, &node.filters}) std::ranges::sort(*list);
  }
  return nodes;
}

using Row = std::vector<std::string>;

std::string counted(const std::vector<std::uint32_t>& numbers) {
  if (numbers.empty()) return "0";
  return fmt::format("{}: {}", numbers.size(), ranges_text(numbers));
}

/// Formats rows in columns as wide as their widest word.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string node_table(const Plan& plan, const PlanNames& names) {
  std::vector<Row> rows = {{"node", "ranks", "cores", "sources", "builders", "filters", "rings", "memory"}};
  const auto nodes = nodes_of(plan);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const auto& node = nodes[n];
    rows.push_back({node_name(names, n), counted(node.ranks), ranges_text(node.cores), counted(node.sources),
                    counted(node.builders), counted(node.filters), in_bytes(static_cast<double>(node.rings)),
                    in_bytes(static_cast<double>(node.total))});
  }
  return table(rows);
}

/// Describes the roles of a rank, to group ranks with equal roles.
std::string kind_of(const RankRoles& rank) {
  std::string text;
  const auto add = [&](const char* word, const std::vector<std::uint32_t>& of) {
    if (!of.empty()) text += (text.empty() ? "" : " + ") + std::string(word);
  };
  add("source", rank.sources);
  add("builder", rank.builders);
  add("filter", rank.filters);
  return text;
}

std::string rank_table(const Plan& plan) {
  const auto ranks = roles_by_rank(plan.placement.roles);
  std::vector<std::string> kinds;
  for (const auto& rank : ranks) {
    if (std::ranges::count(kinds, kind_of(rank)) == 0) kinds.push_back(kind_of(rank));
  }
  std::vector<Row> rows = {{"a rank with", "ranks", "rings", "slices", "output", "program", "at most"}};
  for (const auto& kind : kinds) {
    RankMemory most;
    std::size_t n = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (kind_of(ranks[r]) != kind) continue;
      ++n;
      if (plan.memory[r].total() > most.total()) most = plan.memory[r];
    }
    Row row = {kind, std::to_string(n)};
    for (const auto bytes : {most.rings, most.slices, most.output, most.program, most.total()}) {
      row.push_back(in_bytes(static_cast<double>(bytes)));
    }
    if (!plan.request.hits_per_second) row[3] = "?";
    rows.push_back(row);
  }
  return table(rows);
}

Json rank_json(const Plan& plan, std::size_t rank, const RankRoles& roles) {
  const auto& memory = plan.memory[rank];
  Json json;
  json["rank"] = rank;
  json["node"] = plan.placement.node_of(static_cast<int>(rank));
  json["core"] = plan.placement.core_of(static_cast<int>(rank));
  json["sources"] = roles.sources;
  json["builders"] = roles.builders;
  json["filters"] = roles.filters;
  json["ring_bytes"] = memory.rings;
  json["slice_bytes"] = memory.slices;
  json["output_bytes"] = memory.output;
  json["program_bytes"] = memory.program;
  return json;
}

Json choices_json(const Plan& plan) {
  const auto& roles = plan.placement.roles;
  Json json;
  json["sources"] = roles.sources;
  json["builders"] = roles.builders;
  json["filters"] = roles.filters;
  json["ranks"] = roles.ranks;
  json["schedule"] = plan.placement.schedule;
  if (plan.slot_ns() != 0) json["slot_ns"] = plan.slot_ns();
  json["ring_depth"] = plan.choice.ring.depth;
  json["cell_size"] = plan.choice.ring.cell_size;
  json["slices_in_flight"] = plan.choice.slices_in_flight;
  json["epochs_per_slice"] = plan.choice.epochs_per_slice;
  json["builders_missing"] = plan.placement.builders_missing;
  json["reduced_to_fit"] = plan.reduced();
  return json;
}

}  // namespace

std::string ranges_text(const std::vector<std::uint32_t>& rising) {
  std::string text;
  for (std::size_t i = 0; i < rising.size();) {
    std::size_t end = i + 1;
    const std::uint32_t step = end < rising.size() ? rising[end] - rising[i] : 0;
    while (end < rising.size() && rising[end] - rising[end - 1] == step) ++end;
    if (end - i == 2 && step != 1) end = i + 1;
    if (!text.empty()) text += ',';
    if (end - i == 1) text += fmt::format("{}", rising[i]);
    if (end - i > 1 && step == 1) text += fmt::format("{}-{}", rising[i], rising[end - 1]);
    if (end - i > 1 && step != 1) text += fmt::format("{},{}..{}", rising[i], rising[i + 1], rising[end - 1]);
    i = end;
  }
  return text;
}

std::string plan_text(const Plan& plan, const PlanNames& names) {
  const auto& request = plan.request;
  const auto& roles = plan.placement.roles;
  auto text =
      fmt::format("{} nodes of {} cores: {} ranks for {} sources, {} builders and {} filters\n\n", request.nodes,
                  request.cores_per_node, roles.ranks, roles.sources, roles.builders, roles.filters);
  text += node_table(plan, names) + '\n' + rank_table(plan) + '\n' + network_text(network_of(plan)) + "\n\nstart\n  " +
          mpirun_command(plan, names) + "\n  " + srun_command(plan, names) + '\n';
  if (names.hosts.empty() && !names.rankfile.empty()) {
    text += "  (+nX in a rank file is host X of a job's allocation; outside a job use --hosts)\n";
  }
  text += "\nwhy\n";
  for (const auto& [choice, why] : reasons(plan)) text += fmt::format("  {:<10} {}\n", choice, why);
  return text;
}

Json plan_json(const Plan& plan, const PlanNames& names) {
  Json json = choices_json(plan);
  json["network"] = network_json(network_of(plan));
  json["run_options"] = run_options(plan);
  json["mpirun"] = mpirun_command(plan, names);
  json["srun"] = srun_command(plan, names);
  const auto nodes = nodes_of(plan);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    json["node_list"].push_back({{"host", node_name(names, n)},
                                 {"ranks", nodes[n].ranks.size()},
                                 {"sources", nodes[n].sources.size()},
                                 {"builders", nodes[n].builders.size()},
                                 {"filters", nodes[n].filters.size()},
                                 {"ring_bytes", nodes[n].rings},
                                 {"memory_bytes", nodes[n].total}});
  }
  const auto ranks = roles_by_rank(plan.placement.roles);
  for (std::size_t r = 0; r < ranks.size(); ++r) json["rank_list"].push_back(rank_json(plan, r, ranks[r]));
  for (const auto& [choice, why] : reasons(plan)) json["why"][choice] = why;
  return json;
}

}  // namespace eventloom
