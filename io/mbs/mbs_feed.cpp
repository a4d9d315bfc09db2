#include "io/mbs/mbs_feed.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/live/damage_records.hpp"
#include "io/live/feed_queue.hpp"
#include "io/lmd/lmd_hit_blocks.hpp"
#include "io/mbs/mbs_reader.hpp"
#include "io/recorded/encoded_stream.hpp"
#include "io/recorded/shifted_reader.hpp"

namespace eventloom {

namespace {

/// Interval at which the thread publishes its counts.
constexpr std::chrono::milliseconds kCountsEvery{100};

class MbsFeed final : public LiveFeed {
 public:
  MbsFeed(const SourceUri& uri, const LmdTime& time, const StreamHeader& header, std::uint64_t reorder,
          const LiveInputSettings& settings);
  ~MbsFeed() override;

  [[nodiscard]] StreamHeader header() const override { return header_; }
  [[nodiscard]] bool header_known() const override { return true; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_connected() const override { return reader_->is_connected(); }
  void take(FeedBatch& batch) override { queue_.take(batch); }
  void stop() override { stop_.stop(); }
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void run();
  bool follow();
  bool begin_anew();
  bool hand_over(Epoch end);
  void publish();

  StreamHeader header_;
  std::string name_;
  MbsStop stop_;
  const MbsReader* reader_;  ///< the one that stream_ reads
  std::unique_ptr<EncodedStream> stream_;
  Epoch handed_ = 0;  ///< everything that begins before it is delivered
  SliceData data_;
  FeedQueue queue_;

  mutable std::mutex mutex_;
  SourceCounts counts_;
  std::uint64_t anomalies_ = 0;
  std::uint64_t failures_ = 0;
  std::chrono::steady_clock::time_point published_;

  std::thread thread_;
};

EraRule era_rule(const SourceUri& uri, const LmdTime& time) {
  const auto text = uri.get("era", "");
  if (!text.empty() && !time.numbered()) {
    uri.refuse("era= is valid only where times are event numbers");
  }
  if (text.empty() || text == "auto") return EraRule::automatic;
  if (text == "repeat") return EraRule::repeats;
  if (text == "new") return EraRule::anew;
  uri.refuse("era=" + text + " is not known; use auto, repeat or new");
}

std::unique_ptr<MbsReader> make_reader(const SourceUri& uri, const LmdTime& time, const StreamHeader& header,
                                       const LiveInputSettings& settings, const MbsStop& stop) {
  return std::make_unique<MbsReader>(
      MbsAddress::of(uri), time, header, std::chrono::duration<double>(settings.reconnect_seconds),
      time.numbered() ? std::nullopt : std::optional(LiveReading().longest_wait), era_rule(uri, time), stop);
}

MbsFeed::MbsFeed(const SourceUri& uri, const LmdTime& time, const StreamHeader& header, std::uint64_t reorder,
                 const LiveInputSettings& settings)
    : header_(header), queue_(settings.buffer_bytes) {
  auto reader = make_reader(uri, time, header, settings, stop_);
  reader_ = reader.get();
  stream_ = std::make_unique<EncodedStream>(shifted(std::move(reader), uri), reorder,
                                            LiveReading{.most_bytes = settings.buffer_bytes});
  name_ = stream_->name();
  publish();
  thread_ = std::thread([this] { run(); });
}

MbsFeed::~MbsFeed() {
  stop_.stop();
  queue_.stop();
  thread_.join();
}

void MbsFeed::run() {
  try {
    while (follow() && begin_anew()) {
    }
  } catch (const std::exception& error) {
    spdlog::error("{}: {}; nothing more is read from it", name_, error.what());
    ++failures_;
    const Damage rest{.first_epoch = handed_, .n_epochs = kForEver, .cause = DropCause::lost};
    queue_.push({}, {&rest, 1});
  }
  publish();
  queue_.end();
}

/// Reads to the end of the stream; false when nobody takes any more.
bool MbsFeed::follow() {
  for (auto end = stream_->read_on(); end; end = stream_->read_on()) {
    if (!hand_over(*end)) return false;
    queue_.complete_to(*end);
    queue_.holds_back(stream_->begins(), stream_->seen_end());
    if (std::chrono::steady_clock::now() - published_ >= kCountsEvery) publish();
  }
  return hand_over(std::numeric_limits<Epoch>::max());
}

/// The server's clock has gone back: epochs start again. False when everything has been read.
bool MbsFeed::begin_anew() {
  auto next = stream_->behind_the_jump();
  if (!next) return false;
  stream_ = std::move(next);
  handed_ = 0;
  return true;
}

/// Delivers what begins before `end` and is not delivered yet; false when nobody takes any more.
bool MbsFeed::hand_over(Epoch end) {
  if (end <= handed_) return true;
  const EpochRange epochs{handed_, end};
  data_.clear();
  stream_->collect(epochs, data_);
  std::erase_if(data_.damage, [epochs](const Damage& damage) { return !epochs.contains(damage.first_epoch); });
  std::span<const Damage> damage(data_.damage);
  for (std::size_t i = 0; i < data_.pieces.size(); ++i) {
    const bool last = i + 1 == data_.pieces.size();
    const Epoch next = last ? end : read_epoch_buffer_header(data_.pieces[i + 1])->first_epoch;
    const auto behind = std::ranges::lower_bound(damage, next, {}, &Damage::first_epoch);
    const auto n = static_cast<std::size_t>(behind - damage.begin());
    if (!queue_.push(data_.pieces[i], damage.first(n))) return false;
    damage = damage.subspan(n);
  }
  if (!damage.empty()) queue_.push({}, damage);
  handed_ = end;
  stream_->release_before(end);
  return true;
}

void MbsFeed::publish() {
  const auto counts = stream_->counts();
  const std::lock_guard lock(mutex_);
  counts_ = counts;
  anomalies_ = stream_->anomalies() + failures_;
  published_ = std::chrono::steady_clock::now();
}

std::uint64_t MbsFeed::anomalies() const {
  const std::lock_guard lock(mutex_);
  return anomalies_;
}

SourceCounts MbsFeed::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace

std::unique_ptr<LiveFeed> open_mbs(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings) {
  const LmdTime time(uri, base.tick_ps);
  const auto reorder =
      uri.get_count("reorder", time.numbered() ? kReorderNumbered : kReorderStamped, 1, kMaxReorderHits);
  auto header = lmd_stream_header(uri, id, base, time);
  if (time.numbered()) {
    header.text +=
        fmt::format("A counter that begins anew opens an era, whose numbers go on at the next multiple of {}.\n",
                    EventNumbers::kEraTicks);
  }
  return std::make_unique<MbsFeed>(uri, time, header, reorder, settings);
}

}  // namespace eventloom
