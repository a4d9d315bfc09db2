#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/geometry.hpp"
#include "io/generator/point_process.hpp"

namespace eventloom {

struct LiveSettings {
  SliceGeometry geometry;  ///< geometry in ticks of 1 ns, counted from the common start of all ranks
  SourceId id;
  std::string timing;            ///< timing of bunches; see PointProcess
  double hits_per_second = 0;    ///< rate of this source
  std::uint32_t bunch = 25;      ///< simultaneous hits, 1 or more
  std::uint32_t packet = 2500;   ///< number of hits at which a packet is closed
  Tick flush_after = 100'000;    ///< age of the oldest hit at which a packet is closed
  std::int64_t duration_ns = 0;  ///< hits are planned from the start until this time
  std::int64_t limit_ns = 0;     ///< age of the oldest hit beyond which a packet is late; 0: never
  bool drop_late = true;
  /// Nanoseconds since the common start; negative before it. Never falls.
  std::function<std::int64_t()> since_start;
};

/// Counts of hits. made = sent + dropped once all slices are sent.
struct LiveCount {
  std::uint64_t made = 0;
  std::uint64_t missed = 0;  ///< planned, but not made because the source was too far behind
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;  ///< hits of late packets that were dropped
  std::uint64_t late = 0;     ///< hits of late packets, dropped or not
  std::uint64_t packets = 0;
  std::int64_t behind_ns = 0;  ///< largest delay behind the plan; in a sum, of any source

  void add(const LiveCount& other);
};

/// A packet that was sent.
struct LivePacket {
  SliceId slice;  ///< the slice that owns its first hit
  Tick oldest = 0;
};

/// Makes hits in real time: make() makes each hit at its planned time, independently of the exchange.
///
/// A packet is an epoch buffer. An epoch must not be split between buffers, so a packet is closed only at the end of an
/// epoch: when it is full, when its oldest hit is old enough, or where the range sent for a slice begins or ends. The
/// last rule keeps a slice from waiting for, or carrying, more than its margin.
///
/// Whether a packet is late is decided once, when the first slice that needs it is collected, so that all builders
/// receive the same data. Builders receive a dropped packet as damage.
class LiveSource final : public Source {
 public:
  /// Throws UserError for an unknown timing.
  explicit LiveSource(LiveSettings settings);

  /// Makes the hits that are due, at most those of one millisecond, and returns their number. Must be called often:
  /// hits that are 20 ms behind are missed.
  std::size_t make();
  /// Whether all hits have been made or missed.
  [[nodiscard]] bool finished() const { return finished_; }
  /// Whether collect() may be called for the slice: all of its hits are made and in closed packets.
  [[nodiscard]] bool ready(SliceId slice) const;

  [[nodiscard]] const LiveCount& count() const { return count_; }
  [[nodiscard]] const std::vector<LivePacket>& packets_sent() const { return sent_; }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override { return Epoch(0); }
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return std::nullopt; }
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override { return count_.made; }
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }

 private:
  struct Packet {
    EpochBufferHeader header;
    Tick oldest = 0;
    enum class State : std::uint8_t { waiting, sent, dropped } state = State::waiting;
    std::vector<std::byte> bytes;
  };

  void miss_before(std::int64_t time);
  void make_bunch();
  void end_epoch_before(Tick time);
  [[nodiscard]] bool packet_ends() const;
  void close_packet();
  void judge(Packet& packet, std::int64_t now);
  void plan_next() { next_ = static_cast<std::int64_t>(process_.next(engine_)); }

  LiveSettings settings_;
  StreamHeader header_;
  std::string name_ = "live";
  RandomEngine engine_;
  PointProcess process_;
  EpochBufferEncoder encoder_;
  std::vector<std::uint32_t> channels_;  ///< channels of a bunch
  std::int64_t next_ = 0;                ///< planned time of the next bunch
  std::int64_t made_ = 0;                ///< all hits before this time have been made or missed
  Tick epoch_end_ = 0;                   ///< end of the current epoch
  Tick oldest_ = 0;                      ///< oldest hit of the open packet
  std::uint64_t closed_hits_ = 0;        ///< hits in closed packets
  bool finished_ = false;
  Epoch data_end_ = 0;
  std::deque<Packet> packets_;
  std::vector<std::vector<std::byte>> spare_;
  LiveCount count_;
  std::vector<LivePacket> sent_;
};

}  // namespace eventloom
