#include "app/tools/bench/measured_times.hpp"

namespace eventloom {

void MeasuredTimes::add(std::int64_t ns) {
  histogram_.add(static_cast<double>(ns));
  if (kept_.limit_ns && ns > *kept_.limit_ns) ++above_limit_;
  if (kept_.each) each_.push_back(ns);
}

void MeasuredTimes::add(const MeasuredTimes& other) {
  histogram_.add(other.histogram_);
  above_limit_ += other.above_limit_;
  if (kept_.each) each_.insert(each_.end(), other.each_.begin(), other.each_.end());
}

Json MeasuredTimes::packed() const {
  return {{"histogram", histogram_.packed()}, {"above_limit", above_limit_}, {"each", each_}};
}

void MeasuredTimes::unpack(const Json& packed) {
  histogram_.add(LatencyHistogram::unpack(packed.at("histogram")));
  above_limit_ += packed.at("above_limit").get<std::uint64_t>();
  const auto each = packed.at("each").get<std::vector<std::int64_t>>();
  each_.insert(each_.end(), each.begin(), each.end());
}

Json MeasuredTimes::to_json() const {
  Json json = histogram_.to_json();
  auto& bins = json["bins"] = Json::array();
  for (const auto& bin : histogram_.bins()) bins.push_back({bin.low, bin.high, bin.count});
  if (!kept_.limit_ns) return json;
  const auto count = static_cast<double>(histogram_.count());
  json["limit_ns"] = *kept_.limit_ns;
  json["above_limit"] = above_limit_;
  json["share_above_limit"] = count == 0 ? Json() : Json(static_cast<double>(above_limit_) / count);
  return json;
}

LatencyHistogram histogram_of(const Json& times) {
  std::vector<LatencyHistogram::Bin> bins;
  for (const auto& bin : times.at("bins")) bins.push_back({bin.at(0), bin.at(1), bin.at(2)});
  return LatencyHistogram::from_bins(bins);
}

}  // namespace eventloom
