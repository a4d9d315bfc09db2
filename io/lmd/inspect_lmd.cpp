#include "io/lmd/inspect_lmd.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "formats/geometry.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/recorded/event_numbers.hpp"
#include "io/recorded/problem_list.hpp"

namespace eventloom {

namespace {

/// Limit of the ids counted; further ids are ignored, since a damaged file may contain any number.
constexpr std::size_t kMaxSubeventIds = 65536;

/// Statistics of the events of a file.
class FileTally {
 public:
  explicit FileTally(const LmdTime& time) : time_(time), numbers_(time.bits()) {}

  void add(const LmdEvent& event) {
    ++triggers_[event.trigger];
    event_bytes_ += 8 + 2 * std::uint64_t{event.dlen};
    for (const auto& sub : event.subevents) {
      min_dlen_ = std::min(min_dlen_, sub.dlen);
      max_dlen_ = std::max(max_dlen_, sub.dlen);
      if (ids_.size() < kMaxSubeventIds || ids_.contains(sub.id())) ++ids_[sub.id()];
    }
    if (const auto number = time_.number_of(event)) {
      judge(event, *number);
    } else {
      ++untimed_;
    }
    if (!time_.numbered()) add_time(time_.of(event));
  }
  void finish() { (void)numbers_.finish(); }

  void show_numbers(Json& json) const {
    json["first_number"] = first_ ? Json(*first_) : Json();
    json["last_number"] = first_ ? Json(last_) : Json();
    numbers_.counters().put_into(
        json, {Metric::missing_numbers, Metric::duplicate_numbers, Metric::repeated_incomplete, Metric::out_of_step});
  }
  void show_contents(Json& json) const {
    json["event_bytes"] = event_bytes_;
    json["triggers"] = Json::object();
    for (const auto& [trigger, n] : triggers_) json["triggers"][std::to_string(trigger)] = n;
    json["ids"] = Json::object();
    for (const auto& [id, n] : ids_) json["ids"][fmt::format("{:08x}", id)] = n;
    json["subevent_dlen"] = Json::object();
    if (!ids_.empty()) json["subevent_dlen"] = {{"min", min_dlen_}, {"max", max_dlen_}};
    if (untimed_ != 0 || !time_.numbered()) json["untimed_events"] = untimed_;
    if (time_.numbered()) return;
    json["first_time"] = earliest_ ? Json(earliest_->value) : Json();
    json["last_time"] = earliest_ ? Json(latest_.value) : Json();
  }

 private:
  void judge(const LmdEvent& event, std::uint32_t number) {
    if (!first_) first_ = number;
    last_ = number;
    const auto& subs = event.subevents;
    const bool completes = numbers_.repeats(number) && kept_known_ && kept_ids_.size() < subs.size() &&
                           std::equal(kept_ids_.begin(), kept_ids_.end(), subs.begin(),
                                      [](std::uint32_t id, const LmdSubevent& sub) { return id == sub.id(); });
    const auto judgement = numbers_.judge(number, completes);
    if (judgement.previous) kept_known_ = false;
    if (judgement.current) return;
    kept_known_ = true;
    kept_ids_.clear();
    for (const auto& sub : subs) kept_ids_.push_back(sub.id());
  }

  void add_time(std::optional<Tick> time) {
    if (!time) {
      ++untimed_;
      return;
    }
    earliest_ = std::min(earliest_.value_or(*time), *time);
    latest_ = std::max(latest_, *time);
  }

  LmdTime time_;
  std::optional<std::uint32_t> first_;
  std::uint32_t last_ = 0;
  std::uint64_t event_bytes_ = 0;
  std::map<std::uint16_t, std::uint64_t> triggers_;
  std::map<std::uint32_t, std::uint64_t> ids_;
  std::uint32_t min_dlen_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t max_dlen_ = 0;
  EventNumbers numbers_;
  bool kept_known_ = false;
  std::vector<std::uint32_t> kept_ids_;
  std::optional<Tick> earliest_;
  Tick latest_ = 0;
  std::uint64_t untimed_ = 0;
};

Json to_json(const LmdFileHeader& header) {
  if (header.classic) {
    return {{"label", header.label},
            {"file", header.file},
            {"user", header.user},
            {"time", header.time},
            {"run", header.run},
            {"experiment", header.experiment},
            {"lines", header.lines},
            {"seconds", header.buffer.seconds},
            {"fraction", header.buffer.fraction},
            {"header_bytes", header.bytes},
            {"buffer_bytes", header.buffer_bytes}};
  }
  const auto& flat = header.flat;
  const bool counted = flat.elements != LmdFlatHeader::kUnknownElements;
  return {{"seconds", flat.seconds},
          {"nanoseconds", flat.nanoseconds},
          {"header_bytes", header.bytes},
          {"max_words", flat.max_words},
          {"elements", counted ? Json(flat.elements) : Json("unknown")},
          {"index_offset", flat.table == 0 ? Json("none") : Json(4 * flat.table)},
          {"index_offset_bytes", flat.offset_bytes}};
}

Json to_json(const LmdEvent& event) {
  Json subevents = Json::array();
  for (const auto& sub : event.subevents) {
    std::vector<std::uint32_t> data(sub.words());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = sub.word(i);
    subevents.push_back({{"control", sub.control},
                         {"crate", sub.crate},
                         {"procid", sub.procid},
                         {"type", sub.type},
                         {"subtype", sub.subtype},
                         {"dlen", sub.dlen},
                         {"data", data}});
  }
  return {{"number", event.number}, {"trigger", event.trigger}, {"subevents", subevents}};
}

void add_problems(std::span<const LmdProblem> found, ProblemList& problems) {
  for (const auto& problem : found) {
    problems.add([&problem] { return fmt::format("offset {}: {}", problem.offset, problem.text); });
  }
}

std::string_view name_of(LmdIndexState state) {
  switch (state) {
    case LmdIndexState::whole: return "whole";
    case LmdIndexState::damaged: return "damaged";
    default: return "none";
  }
}

Json describe(const LmdFile& file, const FileTally& tally, const ProblemList& problems) {
  const auto& header = file.header();
  const auto& counters = file.counters();
  Json json = {{"file", file.path()},
               {"kind", "lmd"},
               {"damaged", problems.any()},
               {"file_bytes", file.size()},
               {"format", header.classic ? "2000/1" : "101/1"},
               {"byte_order", header.swapped ? "big" : "little"},
               {"header", to_json(header)}};
  counters.put_into(json, {Metric::source_events});
  tally.show_numbers(json);
  counters.put_into(json, {Metric::subevents, Metric::empty_events});
  tally.show_contents(json);
  counters.put_into(json, {Metric::skipped_elements});
  if (header.classic || counters[Metric::buffers] > 0) {
    counters.put_into(json,
                      {Metric::buffers, Metric::buffers_continued, Metric::missing_buffers, Metric::skipped_fragments});
  }
  json["index"] = name_of(file.index());
  json["problems"] = problems.lines();
  return json;
}

}  // namespace

Json inspect_lmd(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const LmdTime time(uri, tick_ps.value_or(TimeBase{}.tick_ps));
  LmdFile file(uri.path());
  FileTally tally(time);
  ProblemList problems;
  Json first_events = Json::array();
  LmdEvent event;
  while (file.next(event)) {
    add_problems(file.problems(), problems);
    tally.add(event);
    if (first_events.size() < n_events) first_events.push_back(to_json(event));
  }
  add_problems(file.problems(), problems);
  tally.finish();
  auto json = describe(file, tally, problems);
  if (n_events > 0) json["first_events"] = std::move(first_events);
  return json;
}

}  // namespace eventloom
