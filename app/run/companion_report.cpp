#include "app/run/companion_report.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

struct CompanionSum {
  std::vector<std::string> files;  ///< sorted by writer and number
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

CompanionSum sum_of(const EventTarget& target, const std::vector<PartInfo>& parts) {
  CompanionSum sum;
  for (const auto& part : parts) {
    for (const auto& file : part.event_files) {
      if (!file.name.ends_with(target.extension())) continue;
      sum.files.push_back((target.folder / file.name).string());
      sum.events += file.events;
      sum.bytes += file.bytes;
    }
  }
  return sum;
}

}  // namespace

void print_companions(std::ostream& out, const DefinitionOutput& run, const std::vector<PartInfo>& parts) {
  for (const auto& [given, target] : run.also) {
    const auto sum = sum_of(target, parts);
    if (sum.files.empty()) continue;
    const auto n = sum.files.size();
    const auto names = n == 1 ? sum.files.front() : sum.files.front() + " to " + sum.files.back();
    out << fmt::format("also: {} ({} event{}, {:.1f} MB, {} file{})\n", for_terminal(names), sum.events,
                       sum.events == 1 ? "" : "s", static_cast<double>(sum.bytes) / 1e6, n, n == 1 ? "" : "s");
  }
}

Json companions_json(const DefinitionOutput& run, const std::vector<PartInfo>& parts) {
  auto list = Json::array();
  for (const auto& [given, target] : run.also) {
    const auto sum = sum_of(target, parts);
    list.push_back({{"target", given}, {"files", sum.files}, {"events", sum.events}, {"bytes", sum.bytes}});
  }
  return list;
}

}  // namespace eventloom
