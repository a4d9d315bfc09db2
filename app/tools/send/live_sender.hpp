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

/// A stored epoch buffer to be sent.
struct PacedBuffer {
  std::span<const std::byte> stored;
  Epoch first = 0;  ///< first epoch of the buffer
  Epoch due = 0;    ///< the buffer may be sent when this epoch begins
};

/// A stream to be sent: a sequence of epoch buffers with ascending epochs and due times.
class PacedStream {
 public:
  virtual ~PacedStream() = default;
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  /// The user's name for the stream, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The epoch at which the stream's time begins; std::nullopt for an empty stream.
  [[nodiscard]] virtual std::optional<Epoch> begin() = 0;
  /// Returns the next buffer, valid until pop(), which takes it. Null at the end, or if no buffer is known to be due
  /// before `horizon`.
  virtual const PacedBuffer* peek(Epoch horizon) = 0;
  virtual void pop() = 0;
  /// One past the last epoch of the stream, once all buffers have been taken.
  [[nodiscard]] virtual std::optional<Epoch> ended() const = 0;
  /// The watermark up to `epoch`: all buffers that begin before it have been taken or are known not to exist.
  [[nodiscard]] virtual Epoch complete(Epoch epoch) const = 0;
  /// Ends the stream early, with the data generated so far, due or not.
  virtual void stop() = 0;
};

struct LiveSenderSettings {
  double speed = 1;                         ///< multiple of the data's own pace; 0: as fast as possible
  std::uint64_t bandwidth = 0;              ///< limit for all datagrams together, bytes per second; 0: no limit
  std::int64_t flush_after_ns = 1'000'000;  ///< idle time after which a stream sends a mark
  std::size_t datagram_bytes = 8192;
  std::optional<std::uint32_t> session;
  std::size_t resend_bytes = 0;  ///< per stream, kept to be sent again on request; 0: nothing is
  std::vector<std::string> to;   ///< udp://HOST:PORT, one per stream
};

struct SentStream {
  std::string name;
  std::string to;
  DatagramSender::Count count;
  double seconds = 0;          ///< time from the common start to the end of the stream
  std::int64_t behind_ns = 0;  ///< greatest delay of a buffer; 0 when sent as fast as possible
};

/// Sends streams over UDP, each buffer once its time has passed. All streams follow one clock, which starts with the
/// earliest stream.
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
    int ends = 0;               ///< number of end marks sent
    std::int64_t next_end = 0;  ///< time of the next end mark
  };

  void start_clock();
  void open(Lane& lane, std::int64_t unix_start);
  [[nodiscard]] double data_time(std::int64_t now) const;
  [[nodiscard]] std::int64_t steady_time(double data_time) const;
  std::optional<double> first_due(double clock);
  /// Serves all streams once. Returns the time at which the next turn is needed.
  std::int64_t turn(std::int64_t now);
  void reach(double clock, std::optional<double> first);
  void send_due(Lane& lane);
  void send_one(Lane& lane, const PacedBuffer& buffer);
  void keep_up(std::int64_t now);
  void end(Lane& lane, std::int64_t now);
  void answer(std::int64_t now);
  void flush();
  void note_sent(std::uint64_t bytes);
  [[nodiscard]] bool must_wait() const;
  [[nodiscard]] bool all_ended() const;
  [[nodiscard]] std::int64_t longest_sleep() const;

  LiveSenderSettings settings_;
  std::vector<Lane> lanes_;
  std::int64_t start_ = 0;   ///< steady time that corresponds to origin_
  double origin_ = 0;        ///< data time in ns at which the clock starts
  double reached_ = 0;       ///< everything due before this data time has been sent
  double step_ = 0;          ///< maximum ns of data per turn, so that streams stay together
  bool asks_ahead_ = false;  ///< some stream cannot look beyond the requested time
  std::int64_t next_keep_up_ = 0;
  std::int64_t next_byte_ = 0;  ///< time at which the bandwidth limit permits the next byte
  bool stopping_ = false;
};

}  // namespace eventloom
