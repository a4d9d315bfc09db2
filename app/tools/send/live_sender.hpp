#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"
#include "io/udp/datagram_sender.hpp"

namespace eventloom {

/// A stored epoch buffer that is to be sent.
struct PacedBuffer {
  std::span<const std::byte> stored;
  Epoch first = 0;  ///< epoch
  Epoch due = 0;    ///< it may be sent when this epoch begins
};

/// A stream to be sent: its epoch buffers, in rising epochs and rising due times.
class PacedStream {
 public:
  virtual ~PacedStream() = default;
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  /// As the user knows it, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The epoch at which its time begins; nothing for an empty stream.
  [[nodiscard]] virtual std::optional<Epoch> begin() = 0;
  /// The next buffer. Nothing when none is due before `horizon`, as far as known, or at the end. Valid until pop(),
  /// which takes it.
  virtual const PacedBuffer* peek(Epoch horizon) = 0;
  virtual void pop() = 0;
  /// One past the last epoch of the stream when everything has been taken.
  [[nodiscard]] virtual std::optional<Epoch> ended() const = 0;
  /// The watermark up to `epoch`: buffers that begin before it have been taken or are known not to exist.
  [[nodiscard]] virtual Epoch complete(Epoch epoch) const = 0;
  /// Ends the stream early: with the data generated so far, due or not.
  virtual void stop() = 0;
};

struct LiveSenderSettings {
  double speed = 1;                         ///< in multiples of the data's own pace; 0: flat out
  std::uint64_t bandwidth = 0;              ///< bytes a second, of all datagrams, at most; 0: no limit
  std::int64_t flush_after_ns = 1'000'000;  ///< idle time after which a stream sends a mark
  std::size_t datagram_bytes = 8192;
  std::optional<std::uint32_t> session;
  std::vector<std::string> to;  ///< udp://HOST:PORT for each stream
};

struct SentStream {
  std::string name;
  std::string to;
  DatagramSender::Count count;
  double seconds = 0;          ///< from the common start to the end of the stream
  std::int64_t behind_ns = 0;  ///< the greatest delay of a buffer; 0 when flat out
};

/// Sends streams over UDP, each buffer when its time has passed: all streams follow one clock, which starts with the
/// earliest.
class LiveSender {
 public:
  /// Throws UserError for an unusable address.
  LiveSender(LiveSenderSettings settings, std::vector<std::unique_ptr<PacedStream>> streams);

  /// Runs until all streams have ended; ends them early once `stopped` returns true.
  std::vector<SentStream> run(const std::function<bool()>& stopped);

 private:
  struct Lane {
    std::unique_ptr<PacedStream> stream;
    double epoch_ns = 0;
    std::unique_ptr<DatagramSender> sender{};
    SentStream sent{};
    int ends = 0;               ///< ends sent
    std::int64_t next_end = 0;  ///< time of the next one
  };

  void start_clock();
  void open(Lane& lane, std::int64_t unix_start);
  [[nodiscard]] double data_time(std::int64_t now) const;
  [[nodiscard]] std::int64_t steady_time(double data_time) const;
  std::optional<double> first_due(double clock);
  /// One round of all streams. Returns when the next one is needed.
  std::int64_t turn(std::int64_t now);
  void reach(double clock, std::optional<double> first);
  void send_due(Lane& lane);
  void send_one(Lane& lane, const PacedBuffer& buffer);
  void keep_up(std::int64_t now);
  void end(Lane& lane, std::int64_t now);
  void flush();
  void note_sent(std::uint64_t bytes);
  [[nodiscard]] bool must_wait() const;
  [[nodiscard]] bool all_ended() const;

  LiveSenderSettings settings_;
  std::vector<Lane> lanes_;
  std::int64_t start_ = 0;   ///< steady time of origin_
  double origin_ = 0;        ///< data time, ns
  double reached_ = 0;       ///< data time up to which everything due has been sent
  double step_ = 0;          ///< ns of data per turn at most, so that streams stay together
  bool asks_ahead_ = false;  ///< streams do not look beyond the requested time
  std::int64_t next_keep_up_ = 0;
  std::int64_t next_byte_ = 0;  ///< when the bandwidth limit permits the next byte
  bool stopping_ = false;
};

}  // namespace eventloom
