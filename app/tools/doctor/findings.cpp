#include "app/tools/doctor/findings.hpp"

#include <algorithm>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

bool alike(const Finding& a, const Finding& b) {
  return a.subject == b.subject && a.level == b.level && a.what == b.what && a.meaning == b.meaning && a.fix == b.fix &&
         a.measured.has_value() == b.measured.has_value();
}

void take_in(Finding& all, const Finding& one) {
  all.hosts.insert(all.hosts.end(), one.hosts.begin(), one.hosts.end());
  if (!one.measured) return;
  all.measured->least = std::min(all.measured->least, one.measured->least);
  all.measured->most = std::max(all.measured->most, one.measured->most);
}

std::string number_text(double number) {
  return number < 1000 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

std::string measured_text(const Measured& measured) {
  const auto least = number_text(measured.least);
  const auto most = number_text(measured.most);
  return (least == most ? least : least + " to " + most) + " " + measured.unit;
}

}  // namespace

std::string name_of(FindingLevel level) {
  if (level == FindingLevel::ok) return "ok";
  return level == FindingLevel::note ? "note" : "warning";
}

std::string what_text(const Finding& finding) {
  const auto at = finding.what.find("{}");
  if (!finding.measured || at == std::string::npos) return finding.what;
  return finding.what.substr(0, at) + measured_text(*finding.measured) + finding.what.substr(at + 2);
}

std::vector<Finding> merged(const std::vector<Finding>& findings) {
  std::vector<Finding> all;
  for (const auto& one : findings) {
    const auto known = std::ranges::find_if(all, [&](const Finding& other) { return alike(one, other); });
    if (known != all.end()) {
      take_in(*known, one);
      continue;
    }
    const auto last =
        std::find_if(all.rbegin(), all.rend(), [&](const Finding& f) { return f.subject == one.subject; });
    all.insert(last == all.rend() ? all.end() : last.base(), one);
  }
  return all;
}

int exit_code_of(const std::vector<Finding>& findings) {
  return std::ranges::count(findings, FindingLevel::warning, &Finding::level) == 0 ? kExitOk : kExitLosses;
}

}  // namespace eventloom
