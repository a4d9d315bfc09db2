#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/send/generate_events.hpp"
#include "app/tools/send/generate_recording.hpp"
#include "app/tools/send/live_sender.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

/// Packs the hits of a source into epoch buffers as they are generated. A buffer is closed, and due, at the end of the
/// epoch in which it becomes full, in which its oldest hit becomes `flush_after` old, or which precedes a multiple of
/// the epochs per buffer.
class LiveCutter {
 public:
  struct Cut {
    std::vector<std::byte> bytes;
    PacedBuffer buffer;
  };

  LiveCutter(const GenerateSettings& settings, std::uint32_t source, Tick flush_after);

  /// Takes the next hits. With them, all hits before epoch `made` have been passed.
  void take(const HitBlock& hits, Epoch made);
  /// Signals that no more hits follow.
  void end(Epoch due);

  /// Returns the oldest closed buffer; null if there is none.
  [[nodiscard]] const PacedBuffer* front() const { return cuts_.empty() ? nullptr : &cuts_.front().buffer; }
  void pop();
  /// First epoch of the closed buffers and the open one; std::nullopt if there are none.
  [[nodiscard]] std::optional<Epoch> first() const;

 private:
  [[nodiscard]] Epoch closes_at() const;
  void close(Epoch due);

  EpochBufferEncoder encoder_;
  std::uint32_t epoch_ticks_;
  std::uint32_t epochs_per_buffer_;
  Tick flush_after_;
  Tick oldest_ = 0;  ///< oldest hit of the open buffer
  Epoch last_ = 0;   ///< last epoch of the open buffer
  std::deque<Cut> cuts_;
  std::vector<std::vector<std::byte>> spares_;
};

/// All streams of a generator, generated as they are sent. Recorded files hold exactly the hits that were sent.
class LiveGenerator {
 public:
  /// `settings` and `writer`, which may be null, must outlive the object. A duration of 0 means unlimited.
  LiveGenerator(const GenerateSettings& settings, Tick flush_after, RecordingWriter* writer);

  void make_until(Epoch epoch);
  void stop();

  [[nodiscard]] LiveCutter& cutter(std::uint32_t source) { return cutters_[source]; }
  /// All hits before this epoch have been generated.
  [[nodiscard]] Epoch made() const { return made_; }
  /// One past the last epoch, once all hits have been generated.
  [[nodiscard]] std::optional<Epoch> ended() const { return ended_ ? std::optional(made_) : std::nullopt; }
  /// Length of the streams, valid once they have ended.
  [[nodiscard]] Tick duration() const { return duration_; }

 private:
  void make(Epoch epoch);

  const GenerateSettings& settings_;
  EventGenerator generator_;
  RecordingWriter* writer_;
  std::deque<LiveCutter> cutters_;
  Tick duration_;
  Epoch made_ = 0;
  bool ended_ = false;
};

/// One stream of a LiveGenerator, which must outlive it.
class GeneratedStream final : public PacedStream {
 public:
  GeneratedStream(LiveGenerator& generator, const GenerateSettings& settings, std::uint32_t source);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::optional<Epoch> begin() override { return Epoch(0); }
  const PacedBuffer* peek(Epoch horizon) override;
  void pop() override { cutter_.pop(); }
  [[nodiscard]] std::optional<Epoch> ended() const override;
  [[nodiscard]] Epoch complete(Epoch epoch) const override;
  void stop() override { generator_.stop(); }

 private:
  LiveGenerator& generator_;
  LiveCutter& cutter_;
  StreamHeader header_;
  std::string name_;
};

}  // namespace eventloom
