#include "test_sources.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "io/recorded/encoded_stream.hpp"

namespace eventloom::test {

namespace {

constexpr std::size_t kMostAtOnce = 16;

StreamHeader header_of(SourceId id, TimeBase base) {
  StreamHeader header;
  header.source = id.value;
  header.base = base;
  return header;
}

/// Delivers hits in blocks of a few hundred.
class TableReader final : public HitReader {
 public:
  TableReader(StreamHeader header, std::vector<RefHit> hits)
      : header_(std::move(header)), name_("table " + std::to_string(header_.source)), hits_(std::move(hits)) {}

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override {
    constexpr std::size_t kMost = 300;
    block.clear();
    for (std::size_t n = 0; n < kMost && next_ < hits_.size(); ++n, ++next_) {
      const auto& hit = hits_[next_];
      block.time.push_back(hit.time);
      block.channel.push_back(hit.channel);
      block.payload.insert(block.payload.end(), hit.payload.begin(), hit.payload.end());
    }
    return block.size() != 0;
  }

 private:
  StreamHeader header_;
  std::string name_;
  std::vector<RefHit> hits_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_table(SourceId id, TimeBase base, const PayloadTable& payload,
                                   const std::vector<RefHit>& hits, bool unique) {
  auto header = header_of(id, base);
  header.payload = payload;
  return std::make_unique<EncodedStream>(std::make_unique<TableReader>(std::move(header), hits), ReorderLimits{},
                                         std::nullopt, unique);
}

RecordedStream::RecordedStream(SourceId id, TimeBase base, Stream buffers, std::function<void(EpochRange)> collected)
    : header_(header_of(id, base)),
      name_("recording " + std::to_string(id.value)),
      buffers_(std::move(buffers)),
      collected_(std::move(collected)) {}

std::optional<Epoch> RecordedStream::first_epoch() {
  return buffers_.empty() ? std::nullopt : std::optional(buffers_.front().header.epochs().begin);
}

void RecordedStream::collect(EpochRange epochs, SliceData& out) {
  if (epochs.begin < forgotten_) throw std::logic_error(name_ + ": epochs are collected that were released");
  if (collected_) collected_(epochs);
  seen_ = std::max(seen_, epochs.end);
  for (const auto& buffer : buffers_) {
    if (buffer.header.epochs().overlaps(epochs)) out.pieces.emplace_back(buffer.bytes);
  }
}

/// As with sources read on demand, the end is known only once it has been read.
std::optional<Damage> RecordedStream::tail_damage() const {
  if (!breaks_off_) return std::nullopt;
  constexpr Epoch kForever(std::uint64_t{1} << 60);
  return Damage{.first_epoch = buffers_.empty() ? 0 : buffers_.back().header.epochs().end, .n_epochs = kForever};
}

std::optional<Epoch> RecordedStream::end_epoch() const {
  if (buffers_.empty()) return 0;
  const Epoch end = buffers_.back().header.epochs().end;
  return seen_ >= end ? std::optional(end) : std::nullopt;
}

std::optional<Epoch> RecordedStream::next_beginning(Epoch from) {
  const auto next = std::ranges::find_if(buffers_, [&](const auto& b) { return b.header.epochs().begin >= from; });
  if (next == buffers_.end()) return std::nullopt;
  return next->header.epochs().begin;
}

void RecordedStream::release_before(Epoch epoch) {
  forgotten_ = std::max(forgotten_, epoch);
  for (; kept_ < buffers_.size() && buffers_[kept_].header.epochs().end <= forgotten_; ++kept_) {
    std::ranges::fill(buffers_[kept_].bytes, std::byte{0xdd});
  }
}

std::uint64_t RecordedStream::hits_read() const {
  std::uint64_t sum = 0;
  for (const auto& buffer : buffers_) sum += buffer.hits.size();
  return sum;
}

ScriptedFeed::ScriptedFeed(SourceId id, TimeBase base, std::vector<Arrival> arrivals,
                           std::function<std::int64_t()> clock)
    : header_(header_of(id, base)),
      name_("peer " + std::to_string(id.value)),
      arrivals_(std::make_move_iterator(arrivals.begin()), std::make_move_iterator(arrivals.end())),
      clock_(std::move(clock)) {}

void ScriptedFeed::take(FeedBatch& batch) {
  const auto now = std::min(clock_(), stopped_at_);
  const auto more = [&] { return !arrivals_.empty() && arrivals_.front().time_ns <= now; };
  for (std::size_t n = 0; n < kMostAtOnce && more(); ++n) {
    const auto& buffer = arrivals_.front().buffer;
    batch.buffers.insert(batch.buffers.end(), buffer.bytes.begin(), buffer.bytes.end());
    complete_ = buffer.header.epochs().end;
    arrivals_.pop_front();
  }
  batch.complete = complete_;
  batch.ended = arrivals_.empty() || (clock_() >= stopped_at_ && !more());
}

}  // namespace eventloom::test
