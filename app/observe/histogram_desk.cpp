#include "app/observe/histogram_desk.hpp"

#include <algorithm>
#include <utility>

#include "app/document/histogram_json.hpp"
#include "app/observe/http_message.hpp"
#include "app/observe/status_document.hpp"

namespace eventloom {

namespace {

Json place_json(const HistogramRecord& histogram) {
  Json axes = Json::array();
  for (const auto& [quantity, unit, edges] : histogram.axes) {
    axes.push_back({{"quantity", quantity},
                    {"unit", unit},
                    {"low", edges.front()},
                    {"high", edges.back()},
                    {"bins", edges.size() - 1}});
  }
  return {{"name", histogram.name}, {"axes", std::move(axes)}};
}

Json counted_json(const HistogramRecord& blank, const HistogramDesk::Counted& counted) {
  Json json;
  if (counted.record) {
    json = histogram_json(*counted.record);
    json["time"] = counted.time;
  } else {
    json = place_json(blank);
    for (const auto* member : {"counts", "entries", "underflow", "overflow", "time"}) json[member] = nullptr;
  }
  json["final"] = counted.final;
  json["since"] = counted.since.empty() ? Json(nullptr) : Json(counted.since);
  return json;
}

}  // namespace

void HistogramDesk::open(std::vector<HistogramRecord> histograms) {
  const std::lock_guard lock(mutex_);
  places_.clear();
  for (auto& histogram : histograms)
    places_.push_back({.blank = std::make_shared<const HistogramRecord>(std::move(histogram))});
}

std::vector<std::size_t> HistogramDesk::take_asked() {
  std::vector<std::size_t> asked;
  if (!any_asked_.exchange(false)) return asked;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (std::exchange(places_[i].asked, false)) asked.push_back(i);
  }
  return asked;
}

void HistogramDesk::put(std::size_t histogram, Counted counted) {
  const std::lock_guard lock(mutex_);
  places_.at(histogram).counted = std::move(counted);
}

std::string HistogramDesk::list_text() const {
  Json list = Json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& place : places_) list.push_back(place_json(*place.blank));
  return to_text({{"histograms", std::move(list)}}) + "\n";
}

std::shared_ptr<const std::string> HistogramDesk::text_of(std::string_view name) {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(places_, name, [](const Place& one) { return one.blank->name; });
    if (found == places_.end()) return nullptr;
    found->asked = true;
    place = *found;
  }
  any_asked_ = true;
  auto& [of, text] = texts_[place.blank->name];
  if (!text || of != place.counted) {
    text = shared_text(to_text(counted_json(*place.blank, place.counted)) + "\n");
    of = place.counted;
  }
  return text;
}

}  // namespace eventloom
