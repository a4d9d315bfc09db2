#include "app/tools/doctor/findings_json.hpp"

#include <algorithm>
#include <array>

namespace eventloom {

namespace {

constexpr std::array kLevels = {FindingLevel::ok, FindingLevel::note, FindingLevel::warning};

FindingLevel level_of(const std::string& name) { return *std::ranges::find(kLevels, name, name_of); }

}  // namespace

Json finding_json(const Finding& finding) {
  Json json = {{"subject", finding.subject}, {"level", name_of(finding.level)},
               {"what", finding.what},       {"meaning", finding.meaning},
               {"mend", finding.fix},        {"measured", nullptr},
               {"hosts", finding.hosts}};
  if (const auto& measured = finding.measured) {
    json["measured"] = {{"least", measured->least}, {"most", measured->most}, {"unit", measured->unit}};
  }
  return json;
}

Finding finding_of(const Json& json) {
  Finding finding{json.at("subject"), level_of(json.at("level")),
                  json.at("what"),    json.at("meaning"),
                  json.at("mend"),    std::nullopt,
                  json.at("hosts")};
  if (const auto& measured = json.at("measured"); !measured.is_null()) {
    finding.measured = Measured{measured.at("least"), measured.at("most"), measured.at("unit")};
  }
  return finding;
}

Json findings_json(const std::vector<Finding>& findings, int ranks, const std::vector<std::string>& hosts) {
  Json json;
  json["format"] = "eventloom-doctor";
  json["ranks"] = ranks;
  json["hosts"] = hosts;
  json["warnings"] = std::ranges::count(findings, FindingLevel::warning, &Finding::level);
  json["findings"] = Json::array();
  for (const auto& finding : findings) {
    auto one = finding_json(finding);
    one["what"] = what_text(finding);
    json["findings"].push_back(std::move(one));
  }
  return json;
}

}  // namespace eventloom
