#include "app/tools/doctor/findings_text.hpp"

#include <algorithm>
#include <ostream>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostHosts = 4;

std::string place_text(const Finding& finding, std::size_t hosts) {
  if (finding.hosts.size() == hosts) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(finding.hosts.size(), kMostHosts); ++i) {
    names += (i == 0 ? "" : ", ") + finding.hosts[i];
  }
  if (finding.hosts.size() > kMostHosts) names += fmt::format(" and {} more", finding.hosts.size() - kMostHosts);
  return names + ": ";
}

}  // namespace

void print_findings(std::ostream& out, const std::vector<Finding>& findings, std::size_t hosts) {
  for (const auto& finding : findings) {
    out << fmt::format("{:<8} {:<14} {}\n", name_of(finding.level), finding.subject,
                       for_terminal(place_text(finding, hosts) + what_text(finding)));
    if (finding.level == FindingLevel::ok) continue;
    if (!finding.meaning.empty()) out << fmt::format("{:24}{}\n", "", for_terminal(finding.meaning));
    if (!finding.fix.empty()) out << fmt::format("{:24}mend: {}\n", "", for_terminal(finding.fix));
  }
  const auto warnings = std::ranges::count(findings, FindingLevel::warning, &Finding::level);
  out << fmt::format("{} warning{}\n", warnings == 0 ? "no" : std::to_string(warnings), warnings == 1 ? "" : "s");
}

}  // namespace eventloom
