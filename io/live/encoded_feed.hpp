#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/dataflow/source.hpp"
#include "io/live/feed_queue.hpp"
#include "io/live/live_feed.hpp"
#include "io/recorded/encoded_stream.hpp"

namespace eventloom {

/// Controls that a feed has over its reader of hits. Called on any thread; the reader must outlive the feed.
struct ReaderControl {
  std::function<void()> stop;  ///< makes read() return the data received so far, then end, and never wait again
  std::function<bool()> is_connected;
  /// See LiveFeed; gets the counts of the reader.
  std::function<std::optional<std::string>(const Counters&)> unheard = [](const Counters&) { return std::nullopt; };
  // Used for numbers that wrap around; see LiveFeed.
  std::function<void(Epoch)> begin_at = [](Epoch) {};
  std::function<void(Epoch)> others_at = [](Epoch) {};
  Epoch wraps_after = 0;
};

/// A live input that the feed's own thread reads as hits. Produces the same epoch buffers as a file of these data; each
/// holds one epoch if events may lack the source.
class EncodedFeed final : public LiveFeed {
 public:
  /// `most_bytes` limits the queue, and separately the hits that wait to be sorted.
  /// `reading`: its limit of bytes is replaced.
  EncodedFeed(std::unique_ptr<HitReader> reader, ReaderControl control, ReorderLimits reorder, std::size_t most_bytes,
              LiveReading reading = {});
  ~EncodedFeed() override;
  EncodedFeed(const EncodedFeed&) = delete;
  EncodedFeed& operator=(const EncodedFeed&) = delete;

  [[nodiscard]] StreamHeader header() const override { return header_; }
  [[nodiscard]] bool header_known() const override { return true; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_connected() const override { return control_.is_connected(); }
  [[nodiscard]] std::optional<std::string> unheard() const override { return control_.unheard(counts().counters); }
  [[nodiscard]] Epoch wraps_after() const override { return control_.wraps_after; }
  void begin_at(Epoch epoch) override { control_.begin_at(epoch); }
  void others_at(Epoch epoch) override { control_.others_at(epoch); }
  [[nodiscard]] bool settle(Epoch end) override;
  void take(FeedBatch& batch) override { queue_.take(batch); }
  void stop() override { control_.stop(); }
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void run();
  void break_off();
  bool follow();
  bool restart();
  bool hand_over(Epoch end);
  bool push(std::span<const std::byte> buffers, std::span<const Damage> damage);
  void publish();

  ReaderControl control_;
  StreamHeader header_;
  std::string name_;
  std::unique_ptr<EncodedStream> stream_;
  Epoch handed_ = 0;                   ///< everything that begins before this epoch has been delivered
  std::atomic<Epoch> settle_to_ = {};  ///< see settle()
  SliceData data_;
  std::vector<std::byte> spare_;  ///< memory for the stream's next chunk
  FeedQueue queue_;

  mutable std::mutex mutex_;
  SourceCounts counts_;
  std::uint64_t anomalies_ = 0;
  std::uint64_t failures_ = 0;
  std::chrono::steady_clock::time_point published_;

  std::thread thread_;
};

}  // namespace eventloom
