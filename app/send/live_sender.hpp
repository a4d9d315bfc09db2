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
  Epoch due = 0;    ///< it may go when this epoch begins
};

/// A stream that is to be sent: its epoch buffers, in rising epochs and rising times at which they are due.
class PacedStream {
 public:
  virtual ~PacedStream() = default;
  [[nodiscard]] virtual const StreamHeader& header() const = 0;
  /// As the user knows it, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The epoch with which its time begins; nothing when it has none.
  [[nodiscard]] virtual std::optional<Epoch> begin() = 0;
  /// The next buffer. Nothing when none is due before `horizon`, as far as the stream knows, or when it has ended.
  /// Valid until pop(), which takes it.
  virtual const PacedBuffer* peek(Epoch horizon) = 0;
  virtual void pop() = 0;
  /// One past the last epoch of the stream when all of it has been taken.
  [[nodiscard]] virtual std::optional<Epoch> ended() const = 0;
  /// Of the epochs before `epoch`, how far buffers that begin there have been taken or are known not to be.
  [[nodiscard]] virtual Epoch complete(Epoch epoch) const = 0;
  /// Makes the stream end early: with what has been made of it, due or not.
  virtual void stop() = 0;
};

struct LiveSenderSettings {
  double speed = 1;                         ///< times as fast as the data's own time; 0: flat out
  std::uint64_t bandwidth = 0;              ///< bytes a second, of all datagrams, at most; 0: no limit
  std::int64_t flush_after_ns = 1'000'000;  ///< a stream that has nothing to send says so after this long
  std::size_t datagram_bytes = 8192;
  std::optional<std::uint32_t> session;
  std::vector<std::string> to;  ///< udp://HOST:PORT for each stream
};

struct SentStream {
  std::string name;
  std::string to;
  DatagramSender::Count count;
  double seconds = 0;          ///< from the common start to the end of the stream
  std::int64_t behind_ns = 0;  ///< the longest that a buffer went later than it was due; 0 when flat out
};

/// Sends streams over UDP, each buffer when its own time has passed: all streams keep to one clock, on which the
/// earliest begins now.
class LiveSender {
 public:
  /// Throws UserError for an address that cannot be sent to.
  LiveSender(LiveSenderSettings settings, std::vector<std::unique_ptr<PacedStream>> streams);

  /// Until all streams have ended, those that had not before `stopped` says so as well.
  std::vector<SentStream> run(const std::function<bool()>& stopped);

 private:
  struct Lane {
    std::unique_ptr<PacedStream> stream;
    double epoch_ns = 0;
    std::unique_ptr<DatagramSender> sender{};
    SentStream sent{};
    int ends = 0;               ///< that were sent
    std::int64_t next_end = 0;  ///< when
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
  double reached_ = 0;       ///< data time up to which all that is due has been sent
  double step_ = 0;          ///< ns of data that go in a turn at most, so that streams stay together
  bool asks_ahead_ = false;  ///< of a stream, nothing is known beyond the time it was asked for
  std::int64_t next_keep_up_ = 0;
  std::int64_t next_byte_ = 0;  ///< when the bandwidth has let through what was sent
  bool stopping_ = false;
};

}  // namespace eventloom
