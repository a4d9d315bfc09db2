#include "app/view/inspect/detector_survey.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/detector/source_in_map.hpp"
#include "core/runtime/format.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "formats/sorted_hit.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

namespace {

/// Number of epochs collected at a time.
constexpr Epoch kEpochsAtATime = 1000;

/// Counts the hits of a range of epochs.
struct ChannelCounter {
  void epoch(Epoch epoch) { inside = range.contains(epoch); }
  void hit(std::uint32_t, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    if (!inside) return;
    if (!sorted) return static_cast<void>(++sources[first].hits[channel]);
    if (payload.size() >= kSortedPrefix && payload[1] < sources.size()) ++sources[payload[1]].hits[channel];
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}

  std::vector<SurveyedSource>& sources;
  std::size_t first;
  bool sorted;
  EpochRange range;
  bool inside = false;
};

/// Returns false if a buffer is damaged.
bool count_hits(std::span<const std::byte> piece, const StreamHeader& stream, ChannelCounter& counter) {
  bool good = true;
  while (!piece.empty()) {
    const auto header = read_epoch_buffer_header(piece);
    if (!header || header->stored_bytes() > piece.size()) return false;
    const auto words = words_of(*header, piece);
    const MarkerContext context{header->epochs(), stream.base.epoch_ticks, stream.payload};
    good = good && words_intact(*header, words) && !MarkerReader(words, context, counter).read();
    piece = piece.subspan(header->stored_bytes());
  }
  return good;
}

/// Returns the epochs with data, from the first to one past the last.
EpochRange count_all(DetectorSurvey& survey, Source& stream, ChannelCounter& counter) {
  const auto first = stream.first_epoch();
  if (!first) return {};
  SliceData data;
  Epoch at = *first;
  while (!stream.end_epoch() || at < *stream.end_epoch()) {
    counter.range = {at, at + kEpochsAtATime};
    data.clear();
    stream.collect(counter.range, data);
    for (const auto piece : data.pieces) {
      if (!count_hits(piece, stream.header(), counter)) survey.damaged = true;
    }
    const auto is_loss = [](const Damage& damage) { return !wanted(damage.cause); };
    if (std::ranges::any_of(data.damage, is_loss)) survey.damaged = true;
    const auto next = data.pieces.empty() ? stream.next_beginning(counter.range.end) : std::optional(counter.range.end);
    if (!next) break;
    at = *next;
    stream.release_before(at);
  }
  return {*first, stream.end_epoch().value_or(at)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// If rates are unknown, the remark gives the number of hits.
void add_rows(std::string& text, const SurveyedSource& source, const std::string& name, double seconds) {
  std::vector<double> hits;
  for (const auto& [channel, n] : source.hits) hits.push_back(static_cast<double>(n));
  const double usual = hits.size() >= kLeastChannels ? median(hits) : 0;
  for (const auto& [channel, n] : source.hits) {
    const auto count = static_cast<double>(n);
    std::string remark = seconds == 0 ? fmt::format("{} hits", n) : "";
    if (usual > 0 && count > kNoisy * usual) {
      remark +=
          fmt::format("{}noisy? {:.0f} times the median of its source", remark.empty() ? "" : "; ", count / usual);
    }
    text += fmt::format("{},{},,,,,{},{}\n", name, channel, seconds == 0 ? "" : fmt::format("{:.6g}", count / seconds),
                        remark);
  }
}

}  // namespace

void add_to_survey(DetectorSurvey& survey, Source& stream, const std::optional<SortedManifest>& sorted) {
  const std::size_t first = sorted ? 0 : survey.sources.size();
  if (!sorted) {
    survey.sources.push_back({stream.name(), {}});
  } else if (survey.sources.empty()) {
    for (const auto& origin : sorted->sources) survey.sources.push_back({origin.name, {}});
  }
  ChannelCounter counter{survey.sources, first, sorted.has_value(), {}};
  const auto epochs = count_all(survey, stream, counter);
  if (stream.anomalies() != 0) survey.damaged = true;
  const auto& base = stream.header().base;
  if ((stream.header().flags & kNumbered) != 0) return;
  const double ticks = static_cast<double>(epochs.end - epochs.begin) * base.epoch_ticks;
  survey.seconds = std::max(survey.seconds, ticks * static_cast<double>(base.tick_ps) * 1e-12);
}

std::string first_map(const DetectorSurvey& survey) {
  std::string text = fmt::format(
      "# Channels found by 'eventloom inspect --detector-map'. As it is this map changes nothing: fill in the columns "
      "and rows that you need.\n# rate_hz and remark are not used by runs; 'noisy?' is said of a channel with more "
      "than "
      "{} times the median rate of its source's: mask it by a 1.\n"
      "source,channel,name,offset_ns,mask,group,rate_hz,remark\n",
      kNoisy);
  std::vector<std::string> names;
  for (const auto& source : survey.sources) names.push_back(source.name);
  for (std::size_t s = 0; s < survey.sources.size(); ++s) {
    add_rows(text, survey.sources[s], source_in_map(names, s), survey.seconds);
  }
  return text;
}

}  // namespace eventloom
