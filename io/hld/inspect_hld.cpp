#include "io/hld/inspect_hld.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "formats/geometry.hpp"
#include "io/hld/hld_counts.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_options.hpp"
#include "io/hld/subevent_ids.hpp"
#include "io/recorded/event_numbers.hpp"
#include "io/recorded/problem_list.hpp"

namespace eventloom {

namespace {

/// Limit of the names counted separately, so that damage cannot make memory grow.
constexpr std::size_t kMaxIds = 4096;

const char* order_name(bool big_endian) { return big_endian ? "BE" : "LE"; }

/// Returns text such as "2026-11-21 02:35:51".
std::string readable_time(const HldEventHeader& header) {
  const auto byte = [](std::uint32_t word, unsigned shift) { return word >> shift & 0xffU; };
  const auto year = 1900 + (header.date >> 16);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", year, byte(header.date, 8) + 1, byte(header.date, 0),
                     byte(header.time, 16), byte(header.time, 8), byte(header.time, 0));
}

Json to_json(const HldEvent& event) {
  Json subevents = Json::array();
  std::vector<std::uint32_t> words;
  for (const auto& subevent : event.subevents) {
    subevent.copy_words(words);
    subevents.push_back({{"id", subevent.id},
                         {"decoding", subevent.decoding},
                         {"trigger_number", subevent.trigger_number},
                         {"size", subevent.size},
                         {"data", words}});
  }
  return {{"number", event.number}, {"trigger", event.trigger()}, {"run", event.run}, {"subevents", subevents}};
}

/// Counts by key, for up to kMaxIds keys; further keys share one count.
class Tally {
 public:
  void count(std::uint64_t key) {
    const auto found = counts_.find(key);
    if (found != counts_.end()) {
      ++found->second;
    } else if (counts_.size() < kMaxIds) {
      counts_[key] = 1;
    } else {
      ++others_;
    }
  }
  template <class Name>
  [[nodiscard]] Json to_json(Name&& name) const {
    Json json = Json::object();
    for (const auto& [key, n] : counts_) json[name(key)] = n;
    if (others_ != 0) json["others"] = others_;
    return json;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t others_ = 0;
};

class Inspection {
 public:
  Inspection(const SourceUri& uri, std::uint64_t n_events, std::uint64_t tick_ps)
      : options_(parse_hld_options(uri, tick_ps)), file_(uri.path()), n_events_(n_events) {
    if (options_.tdcs) decoder_.emplace(*options_.tdcs);
  }

  Json run() {
    for (auto item = file_.next(); item != HldFile::Item::end; item = file_.next()) {
      if (item == HldFile::Item::damage) add_problem(file_.damage().offset, file_.damage().text);
      if (item == HldFile::Item::event) take(file_.event());
    }
    numbers_.finish();
    file_.defect_log().sum_up();
    Json json = summary();
    put_numbers(json);
    put_counts(json);
    if (decoder_) put_tdcs(json);
    put_problems(json);
    if (n_events_ > 0) json["first_events"] = first_events_;
    return json;
  }

 private:
  void take(const HldEvent& event) {
    count(event, counts_);
    if (!first_header_) first_header_ = event;
    if (event.begins_run() && !begin_) begin_ = event;
    if (event.ends_run()) end_ = event;
    if (event.begins_run() || event.ends_run()) return;
    take_number(event);
    for (const auto& subevent : event.subevents) {
      ids_.count(subevent.id);
      orders_.count(std::uint64_t{subevent.id} << 1 | (subevent.big_endian ? 1 : 0));
      if (decoder_ && subevent.word_bytes() == sizeof(std::uint32_t)) take_times(subevent);
    }
    if (first_events_.size() < n_events_) first_events_.push_back(to_json(event));
  }

  void take_number(const HldEvent& event) {
    const auto number = options_.number_of(event);
    if (!number) {
      ++untimed_;
      return;
    }
    if (!first_number_) first_number_ = number;
    last_number_ = *number;
    judge(event, *number);
  }

  void judge(const HldEvent& event, std::uint32_t number) {
    const bool completes = numbers_.repeats(number) && kept_ids_.begin(event);
    const auto judgement = numbers_.judge(number, completes);
    if (judgement.previous) kept_ids_.reset();
    if (!judgement.current) kept_ids_.remember(event);
  }

  void take_times(const HldSubevent& subevent) {
    subevent.copy_words(words_);
    decoder_->decode(words_);
    for (const auto& hit : decoder_->hits()) {
      ++tdc_hits_;
      tdcs_.count(hit.address);
      tdc_channels_.count(std::uint64_t{hit.address} << 8 | tdc_channel(hit.word));
      if (!options_.clock) continue;
      const auto time = options_.clock->ticks(hit);
      first_time_ = std::min(first_time_, time.value_or(first_time_));
      last_time_ = std::max(last_time_, time.value_or(last_time_));
    }
    for (const auto& fault : decoder_->faults()) {
      const auto offset = subevent.offset + kHldSubeventHeaderBytes + std::uint64_t{4} * fault.place;
      file_.defect_log().say(Defect::tdc, offset, [&fault] { return fault.text(); });
      add_problem(offset, fault.text());
    }
  }

  void add_problem(std::uint64_t offset, const std::string& text) {
    problems_.add([&] { return fmt::format("offset {}: {}", offset, text); });
  }

  [[nodiscard]] Json summary() const {
    Json json = {{"file", file_.path()},
                 {"kind", "hld"},
                 {"damaged", problems_.any() || file_.anomalies() != 0},
                 {"file_bytes", file_.size()},
                 {"format", "hld"}};
    if (first_header_) json["byte_order"] = first_header_->big_endian ? "big" : "little";
    Json header = Json::object();
    if (const auto& known = begin_ ? begin_ : first_header_) header["run"] = known->run;
    header["begin"] = begin_ ? readable_time(*begin_) : "missing";
    header["end"] = end_ ? readable_time(*end_) : "missing";
    json["header"] = header;
    return json;
  }

  void put_numbers(Json& json) const {
    counts_.counters.put_into(json, {Metric::source_events, Metric::run_events});
    if (first_number_) {
      json["first_number"] = *first_number_;
      json["last_number"] = last_number_;
    }
    if (untimed_ != 0) json["untimed_events"] = untimed_;
    numbers_.counters().put_into(
        json, {Metric::missing_numbers, Metric::duplicate_numbers, Metric::repeated_incomplete, Metric::out_of_step});
  }

  void put_counts(Json& json) const {
    counts_.counters.put_into(json, {Metric::subevents, Metric::empty_events, Metric::padded_subevents,
                                     Metric::events_with_error_bit, Metric::subevents_with_error_bit});
    json["triggers"] = Json::object();
    for (std::size_t type = 0; type < TriggerCounts::kTypes; ++type) {
      if (const auto n = counts_.triggers[type]; n != 0) json["triggers"][std::to_string(type)] = n;
    }
    json["ids"] = ids_.to_json([](std::uint64_t id) { return fmt::format("{:x}", id); });
    json["orders"] =
        orders_.to_json([](std::uint64_t id) { return fmt::format("{:x}/{}", id >> 1, order_name(id % 2 != 0)); });
  }

  void put_tdcs(Json& json) const {
    json["tdc_hits"] = tdc_hits_;
    json["tdcs"] = tdcs_.to_json([](std::uint64_t address) { return fmt::format("{:x}", address); });
    json["tdc_channels"] =
        tdc_channels_.to_json([](std::uint64_t key) { return fmt::format("{:x}/{}", key >> 8, key & 0xffU); });
    if (!options_.clock || tdc_hits_ == 0) return;
    json["first_time"] = first_time_.value;
    json["last_time"] = last_time_.value;
  }

  void put_problems(Json& json) const {
    json["problems"] = problems_.lines();
    if (file_.anomalies() != 0) {
      json["problems"].push_back(
          fmt::format("{} remarks: unusual decodings, or growth while it was read", file_.anomalies()));
    }
  }

  HldOptions options_;
  HldFile file_;
  std::uint64_t n_events_;
  std::optional<TrbTdcDecoder> decoder_;
  EventNumbers numbers_{options_.number.bits};
  SubeventIds kept_ids_;
  SourceCounts counts_ = hld_counts();
  Tally ids_;
  Tally orders_;  ///< key: id << 1 | big-endian
  Tally tdcs_;
  Tally tdc_channels_;  ///< key: address << 8 | channel
  std::optional<HldEventHeader> first_header_;
  std::optional<HldEventHeader> begin_;
  std::optional<HldEventHeader> end_;
  std::optional<std::uint32_t> first_number_;
  std::uint32_t last_number_ = 0;
  std::uint64_t untimed_ = 0;  ///< events without a number
  std::uint64_t tdc_hits_ = 0;
  Tick first_time_ = std::numeric_limits<Tick>::max();
  Tick last_time_ = 0;
  std::vector<std::uint32_t> words_;  ///< data of the current subevent
  ProblemList problems_;
  Json first_events_ = Json::array();
};

}  // namespace

Json inspect_hld(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  return Inspection(uri, n_events, tick_ps.value_or(TimeBase{}.tick_ps)).run();
}

}  // namespace eventloom
