#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/stream_file.hpp"
#include "io/files/complaints.hpp"
#include "io/hld/hld_counts.hpp"
#include "io/hld/hld_file.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/trb/trb_options.hpp"
#include "io/trb/trb_sequence.hpp"
#include "io/udp/udp_socket.hpp"

namespace eventloom {

/// The hits of the board that sends to a port: those of an HLD file with its subevents.
///
/// An event is what stands in one datagram with one number. Until begin_at() its numbers have no place in the run:
/// everything waits, `most_bytes` here and the rest in the socket.
class TrbReader final : public HitReader, private TrbSink {
 public:
  /// Listens from now on at `place`, see resolve_udp(). Throws UserError.
  TrbReader(const std::string& place, TrbOptions options, std::size_t most_bytes);

  [[nodiscard]] const StreamHeader& header() const override { return options_.header; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  /// Returns a short block as soon as no more data are available, and an empty one when nothing comes for a while.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override;
  [[nodiscard]] std::optional<Tick> held_from() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return options_.maker->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

  // Any thread.

  /// read() takes what has arrived, and ends.
  void stop();
  [[nodiscard]] bool is_connected() const { return heard_ && !stopped_; }
  /// The run begins with this number: the first event is that nearest to it.
  void begin_at(Tick number) { begin_ = number; }
  /// The foremost source of the run is here.
  void others_at(Tick number) { others_ = number; }
  [[nodiscard]] std::uint16_t port() const { return socket_.port(); }

 private:
  static constexpr Tick kUnknown = ~Tick{0};

  void begin(Tick at);
  [[nodiscard]] bool is_full() const;
  bool receive(bool stopping);
  void rest(bool stopping);
  void take(std::span<const std::byte> datagram, std::int64_t now_ns);
  void note_malformed();
  void read_event(Tick number, std::span<const std::byte> subevents);

  void keep(Tick number, std::span<const std::byte> subevents) override;
  void miss(Tick from, Tick to) override;
  void restart() override;
  void leave_out(std::span<const std::byte> subevents) override;

  std::string name_;
  TrbOptions options_;
  std::size_t most_bytes_;
  UdpSocket socket_;
  TrbSequence sequence_;
  Complaints complaints_;
  std::vector<HldSubevent> subevents_;  ///< of the datagram
  HldEvent event_;
  HitBlock ready_;  ///< for the next block
  std::optional<Tick> first_;
  Tick high_ = 0;  ///< what is added to the numbers of sequence_
  bool begun_ = false;
  Tick began_at_ = 0;
  bool ended_ = false;
  std::int64_t data_ns_ = 0;   ///< when the last datagram came
  std::int64_t empty_ns_ = 0;  ///< when the socket was last seen empty
  SourceCounts counts_ = hld_counts();

  std::atomic<Tick> begin_ = kUnknown;
  std::atomic<Tick> others_ = 0;
  std::atomic<bool> heard_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace eventloom
