#include "app/run/live_histograms.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "app/document/histogram_json.hpp"
#include "app/observe/utc_text.hpp"
#include "app/run/hit_notes_of_run.hpp"
#include "core/control/agreement.hpp"
#include "io/run_input/run_histograms.hpp"

namespace eventloom {

LiveHistograms::LiveHistograms(const RunSetup& setup, std::vector<KindHistograms> kinds)
    : set_(setup.run.histograms),
      value_unit_(hit_notes(setup, setup.with_payload).value_unit),
      kinds_(std::move(kinds)) {}

HistogramRecord LiveHistograms::record(std::size_t histogram, std::span<const std::uint64_t> cells) const {
  const auto n = set_->specs().size();
  auto record = histogram_record(set_->specs()[histogram % n], cells, value_unit_);
  const auto& name = kinds_[histogram / n].name;
  if (!name.empty()) record.name = name + "/" + record.name;
  return record;
}

std::vector<HistogramRecord> LiveHistograms::blanks() const {
  std::vector<HistogramRecord> blanks;
  for (std::size_t i = 0; i < kinds_.size() * set_->specs().size(); ++i) blanks.push_back(record(i, {}));
  return blanks;
}

void LiveHistograms::follow_reset(const HistogramFeed& feed, HistogramDesk& desk) {
  if (feed.resets() == resets_) return;
  resets_ = feed.resets();
  since_ = utc_text(std::chrono::system_clock::now());
  for (std::size_t i = 0; i < kinds_.size() * set_->specs().size(); ++i) desk.put(i, {.since = since_});
}

void LiveHistograms::turn(HistogramFeed::Time now, HistogramFeed& feed, HistogramDesk& desk) {
  follow_reset(feed, desk);
  for (const auto histogram : desk.take_asked()) feed.want(histogram, now);
  while (const auto complete = feed.take_complete()) desk.put(*complete, counted(*complete, feed, false));
}

void LiveHistograms::conclude(HistogramFeed& feed, HistogramDesk& desk) {
  follow_reset(feed, desk);
  std::vector<bool> is_complete(kinds_.size() * set_->specs().size());
  while (const auto complete = feed.take_complete()) {
    is_complete[*complete] = true;
    desk.put(*complete, counted(*complete, feed, true));
  }
  for (std::size_t i = 0; i < is_complete.size(); ++i) {
    if (!is_complete[i]) desk.put(i, {.final = true, .since = since_});
  }
}

HistogramDesk::Counted LiveHistograms::counted(std::size_t histogram, const HistogramFeed& feed, bool final) const {
  auto sum = record(histogram, feed.cells(histogram));
  const auto n = set_->specs().size();
  const auto& before = kinds_[histogram / n].before;
  if (resets_ == 0 && !before.empty()) sum.add(before[histogram % n]);
  return {std::make_shared<const HistogramRecord>(for_page(sum)), utc_text(std::chrono::system_clock::now()), final,
          since_};
}

std::vector<KindHistograms> histograms_before(const OutputSettings& output, const std::vector<RunRecord>& records,
                                              const std::vector<Resumption>& resumptions, const Collective& ranks) {
  std::vector<KindHistograms> kinds;
  for (const auto& run : output.runs) kinds.push_back({run.define.name});
  agree(ranks, [&] {
    for (std::size_t i = 0; i < kinds.size() && ranks.rank() == 0; ++i) {
      if (!resumptions[i].resumes || records[i].histograms.empty()) continue;
      const auto folder = std::filesystem::path(output.runs[i].file).parent_path();
      kinds[i].before = sum_histograms(folder, resumptions[i].parts, records[i].histograms);
    }
  });
  return kinds;
}

}  // namespace eventloom
