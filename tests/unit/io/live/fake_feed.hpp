#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "io/live/feed_stream.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint32_t kEpochTicks = 1000;

inline StreamHeader live_header() {
  StreamHeader header;
  header.source = 7;
  header.base = {1000, kEpochTicks};
  return header;
}

struct Hit {
  Epoch epoch = 0;
  std::uint32_t channel = 0;
  friend auto operator<=>(const Hit&, const Hit&) = default;
};

/// One stored epoch buffer; the epochs of `hits` ascend.
inline Bytes make_buffer(const std::vector<Hit>& hits) {
  EpochBufferEncoder encoder(7, kEpochTicks, 0, {});
  for (const auto& hit : hits) encoder.add(tick_of_epoch(hit.epoch, kEpochTicks) + 1, hit.channel, {});
  Bytes bytes;
  encoder.close(bytes);
  return bytes;
}

/// `n` hits in one epoch, or distributed over consecutive epochs.
inline Bytes make_buffer(Epoch first, std::uint32_t n, Epoch n_epochs = 1) {
  std::vector<Hit> hits;
  for (Epoch epoch = first; epoch < first + n_epochs; ++epoch) {
    for (std::uint32_t i = 0; i < n; ++i) hits.push_back({epoch, i});
  }
  return make_buffer(hits);
}

struct HitList {
  std::vector<Hit>& hits;
  Epoch open = 0;

  void epoch(Epoch epoch) { open = epoch; }
  void hit(std::uint32_t, std::uint32_t channel, std::span<const std::uint32_t>) { hits.push_back({open, channel}); }
  void tag(std::uint32_t) {}
  void peak(const Peak&) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
};

/// The hits of contiguous stored epoch buffers.
inline std::vector<Hit> hits_in(std::span<const std::byte> buffers) {
  std::vector<Hit> hits;
  const PayloadTable no_payload;
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    if (!header || header->stored_bytes() > buffers.size()) return {};
    HitList list{hits};
    const MarkerContext context{header->epochs(), kEpochTicks, no_payload};
    if (MarkerReader(words_of(*header, buffers), context, list).read()) return {};
    buffers = buffers.subspan(header->stored_bytes());
  }
  return hits;
}

inline std::vector<Hit> hits_in(const SliceData& data) {
  std::vector<Hit> hits;
  for (const auto piece : data.pieces) {
    const auto more = hits_in(piece);
    hits.insert(hits.end(), more.begin(), more.end());
  }
  return hits;
}

/// Delivers what a test puts in.
class FakeFeed final : public LiveFeed {
 public:
  FeedBatch next;
  StreamHeader said = live_header();
  bool known = true;
  bool stopped = false;
  bool holds_back = false;   ///< data for others that may come
  bool is_counting = false;  ///< as a board does
  Epoch wraps = 0;
  std::int64_t started = 0;
  std::optional<std::string> came_instead;  ///< see LiveFeed::unheard()
  std::vector<Epoch> settled;               ///< asked for
  std::vector<Epoch> safe;                  ///< see LiveFeed::safe_before()
  std::uint64_t takes = 0;
  std::uint64_t bytes = 0;  ///< received

  void add(const Bytes& buffer) {
    EpochBufferHeader header;
    std::memcpy(&header, buffer.data(), sizeof header);
    next.buffers.insert(next.buffers.end(), buffer.begin(), buffer.end());
    next.complete = header.epochs().end;
  }

  [[nodiscard]] StreamHeader header() const override { return said; }
  [[nodiscard]] bool header_known() const override { return known; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_connected() const override { return true; }
  [[nodiscard]] bool settle(Epoch end) override {
    settled.push_back(end);
    return holds_back;
  }
  void safe_before(Epoch epoch) override { safe.push_back(epoch); }
  [[nodiscard]] std::optional<std::string> unheard() const override { return came_instead; }
  [[nodiscard]] bool counts_hits() const override { return is_counting; }
  [[nodiscard]] Epoch wraps_after() const override { return wraps; }
  [[nodiscard]] std::int64_t started_ns() const override { return started; }
  void take(FeedBatch& batch) override {
    ++takes;
    batch.sent = next.sent;
    batch.buffers.insert(batch.buffers.end(), next.buffers.begin(), next.buffers.end());
    batch.damage.insert(batch.damage.end(), next.damage.begin(), next.damage.end());
    batch.complete = next.complete;
    batch.ended = next.ended;
    batch.first_epoch = next.first_epoch;
    batch.seen_end = next.seen_end;
    batch.held_up = next.held_up;
    next.clear();
  }
  void stop() override {
    stopped = true;
    next.ended = true;
  }
  [[nodiscard]] std::uint64_t anomalies() const override { return 3; }
  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts{{{Metric::datagrams, 5}}, {}};
    counts.counters[Metric::bytes] = bytes;
    return counts;
  }

 private:
  std::string name_ = "fake";
};

/// A stream and its feed.
struct Live {
  explicit Live(FeedStream::Settings settings = {}) : Live(std::make_unique<FakeFeed>(), std::move(settings)) {}

  FakeFeed& feed;
  FeedStream stream;

  SliceData collect(EpochRange epochs) {
    SliceData data;
    stream.collect(epochs, data);
    return data;
  }
  bool request(EpochRange epochs) { return stream.request(epochs); }
  std::uint64_t count(const std::string& name) {
    const auto counts = stream.counts().by_name();
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

 private:
  Live(std::unique_ptr<FakeFeed> made, FeedStream::Settings settings)
      : feed(*made), stream(std::move(made), std::move(settings)) {}
};

}  // namespace eventloom::test
