#include "io/hdf5_input/inspect_hdf5.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "io/hdf5/file_survey.hpp"
#include "io/hdf5_input/group_search.hpp"
#include "io/hdf5_input/hdf5_reader.hpp"
#include "io/hdf5_input/unread_hdf5.hpp"
#include "io/recorded/column_name.hpp"
#include "io/recorded/inspect_hits.hpp"

namespace eventloom {

namespace {

/// Datasets that are described, of a file and of a group.
constexpr std::size_t kMostDescribed = 200;

/// Times in ps get ticks of that length.
std::uint64_t suitable_tick(const SourceUri& uri, const FileSurvey& survey) {
  if (uri.get("unit", "") == "ps") return 1;
  const auto group = uri.get("group", "/");
  const auto time = (group == "/" ? "" : group) + "/" + hdf5_columns(uri).front();
  for (const auto& dataset : survey.described) {
    if (dataset["path"] == time && unit_of_time(dataset.value("unit", "")) == "ps") return 1;
  }
  return TimeBase{}.tick_ps;
}

/// Its hits, with `survey` in front of their ranges.
Json shown_hits(const SourceUri& uri, const FileSurvey& survey, std::uint64_t n_events,
                std::optional<std::uint64_t> tick_ps) {
  const auto reader = open_hdf5(uri, {0}, {.tick_ps = tick_ps.value_or(suitable_tick(uri, survey))});
  Json header = {{"uri", uri.text()}, {"group", uri.get("group", "/")}, {"tick_ps", reader->header().base.tick_ps}};
  if (const auto types = payload_type_names(reader->header()); !types.empty()) header["payload_types"] = types;
  const auto unread = unread_hdf5(std::span(&uri, 1)).front();
  if (!unread.empty()) header["columns_not_read"] = unread;
  return inspect_hits(*reader, "hdf5", std::move(header), n_events);
}

void put_survey(const FileSurvey& survey, Json& out) {
  out["groups"] = survey.groups;
  out["datasets"] = survey.datasets;
  out["contents"] = survey.described;
  if (survey.datasets > survey.described.size()) out["datasets_not_shown"] = survey.datasets - survey.described.size();
  if (survey.problems.empty()) return;
  out["damaged"] = true;
  for (const auto& problem : survey.problems) out["problems"].push_back(problem);
}

}  // namespace

Json inspect_hdf5(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto survey = survey_of(uri.path(), uri.get("group", "/"), kMostDescribed);
  auto out = shown_hits(uri, survey, n_events, tick_ps);
  put_survey(survey, out);
  return out;
}

Json inspect_hdf5_file(const std::string& path, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const auto uri = SourceUri::of_path("hdf5", path);
  const auto survey = survey_of(path, "/", kMostDescribed);
  Json out;
  try {
    const auto root = find_groups(path, "/", hdf5_columns(uri)).front();
    if (!root.defect.empty()) throw UserError(root.defect);
    out = shown_hits(uri, survey, n_events, tick_ps);
  } catch (const UserError& e) {
    out = {{"file", path},
           {"kind", "hdf5"},
           {"damaged", false},
           {"file_bytes", std::filesystem::file_size(path)},
           {"hits_need_keys", std::string(e.what()) + "; see inspect --schemes"},
           {"problems", Json::array()}};
  }
  put_survey(survey, out);
  return out;
}

}  // namespace eventloom
