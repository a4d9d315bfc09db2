#include "app/tools/align/hit_passes.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/geometry.hpp"
#include "io/epochs/stored_hits.hpp"
#include "io/recorded/channel_words.hpp"

namespace eventloom {

namespace {

constexpr Epoch kEpochsAtATime = 1000;

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw UserError("'" + name + "' " + why); }

void require_times(const Source& source) {
  const auto flags = source.header().flags;
  if ((flags & kSorted) != 0) refuse(source.name(), "holds time-sorted hits of a run; align the run's sources instead");
  if ((flags & kNumbered) != 0)
    refuse(source.name(), "has event numbers in place of times, which cannot be aligned; choose time= in its URI");
}

/// Earliest epoch in which any of the sources has data at or after `from`.
std::optional<Epoch> next_data(const std::vector<std::unique_ptr<Source>>& sources, std::optional<Epoch> from) {
  std::optional<Epoch> next;
  for (const auto& source : sources) {
    const auto begins = from ? source->next_beginning(*from) : source->first_epoch();
    const auto end = source->end_epoch();
    if (!begins || (end && *begins >= *end)) continue;
    if (!next || *begins < *next) next = begins;
  }
  return next;
}

/// `number`: the first of the payload; NaN without payload, which is outside any bounds.
bool is_cut(const ChannelInfo& info, double number) {
  return info.cut && !(info.min_payload <= number && number <= info.max_payload);
}

bool is_earlier(const AlignHit& a, const AlignHit& b) { return a.time < b.time; }

}  // namespace

HitPasses::HitPasses(const std::vector<SourceSpec>& specs, const TimeBaseOptions& base) : specs_(specs), base_(base) {
  std::vector<DescribedSource> described;
  const auto opened = open_all();
  for (std::size_t s = 0; s < opened.size(); ++s) {
    const auto& source = opened[s];
    require_times(*source);
    described.push_back({source->name(), specs[s].uri.text(), source->header().text});
    names_.push_back(source->name());
    kinds_.push_back(payload_kind(source->header().flags, 0));
    const auto& clock = source->header().base;
    if (names_.size() == 1) clock_ = clock;
    if (clock_ == clock) continue;
    refuse(source->name(), "and '" + names_.front() +
                               "' have other ticks or epochs; convert them to one clock with 'eventloom convert'");
  }
  require_same_words(described);
}

std::vector<std::unique_ptr<Source>> HitPasses::open_all() const {
  std::vector<std::unique_ptr<Source>> sources;
  for (std::size_t s = 0; s < specs_.size(); ++s) {
    if (is_live(specs_[s].uri)) {
      refuse(specs_[s].uri.text(), "is live: record it with 'eventloom run --record DIR', and give the recording");
    }
    sources.push_back(open_source(specs_[s], {static_cast<std::uint16_t>(s)}, base_));
  }
  return sources;
}

void HitPasses::collect(Source& source, std::uint16_t number, EpochRange epochs, Tick origin, const Detector& detector,
                        std::vector<AlignHit>& hits) {
  const auto& header = source.header();
  const auto begin = tick_of_epoch(epochs.begin, header.base.epoch_ticks);
  const auto end = tick_of_epoch(epochs.end, header.base.epoch_ticks);
  const auto take = [&](Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    if (time < begin || time >= end) return;
    const auto& info = detector.at(number, channel);
    if (info.masked || is_cut(info, payload_number(kinds_, number, payload))) return;
    hits.push_back({static_cast<std::int64_t>(time - origin) + info.offset, channel, number});
  };
  SliceData data;
  source.collect(epochs, data);
  damaged_ = damaged_ || std::ranges::any_of(data.damage, [](const Damage& damage) { return !wanted(damage.cause); });
  MarkerCounts left_out;
  for (auto piece : data.pieces) {
    while (!piece.empty()) {
      const auto buffer = read_epoch_buffer_header(piece);
      const auto stored = piece.first(buffer->stored_bytes());
      const std::size_t before = hits.size();
      if (read_stored_hits(*buffer, stored, header, left_out, take)) {
        hits.resize(before);
        damaged_ = true;
      }
      piece = piece.subspan(stored.size());
    }
  }
}

/// Offsets may move hits past those of the next epochs: hits are kept until no earlier one can follow.
void HitPasses::read(const Detector& detector, const std::function<void(std::span<const AlignHit>)>& take) {
  damaged_ = false;
  const auto sources = open_all();
  const auto most = static_cast<std::int64_t>(detector.largest_offset());
  std::vector<AlignHit> waiting;
  auto at = next_data(sources, std::nullopt);
  const Tick origin = tick_of_epoch(at.value_or(Epoch()), clock_.epoch_ticks);
  while (at) {
    const EpochRange epochs{*at, *at + kEpochsAtATime};
    for (std::size_t s = 0; s < sources.size(); ++s) {
      collect(*sources[s], static_cast<std::uint16_t>(s), epochs, origin, detector, waiting);
      sources[s]->release_before(epochs.end);
    }
    std::ranges::stable_sort(waiting, is_earlier);
    const auto safe = static_cast<std::int64_t>(tick_of_epoch(epochs.end, clock_.epoch_ticks) - origin);
    const auto end = std::ranges::lower_bound(waiting, AlignHit{safe - most, 0, 0}, is_earlier);
    take(std::span(waiting.begin(), end));
    waiting.erase(waiting.begin(), end);
    at = next_data(sources, epochs.end);
  }
  take(waiting);
  for (const auto& source : sources) damaged_ = damaged_ || source->anomalies() != 0;
}

}  // namespace eventloom
