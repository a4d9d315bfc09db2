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
#include "io/files/defect_log.hpp"
#include "io/hld/hld_counts.hpp"
#include "io/hld/hld_file.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/trb/trb_options.hpp"
#include "io/trb/trb_sequence.hpp"
#include "io/udp/udp_socket.hpp"

namespace eventloom {

/// Reads the hits of a board that sends to a port: the same as from an HLD file with its subevents.
///
/// An event consists of consecutive subevents of one datagram with the same number. Until begin_at(), event numbers
/// have no place in the run: data wait, up to `most_bytes` here and the rest in the socket.
class TrbReader final : public HitReader, private TrbSink {
 public:
  /// Starts listening at `place`, see resolve_udp(). Throws UserError.
  TrbReader(const std::string& place, TrbOptions options, std::size_t most_bytes);

  [[nodiscard]] const StreamHeader& header() const override { return options_.header; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  /// Returns a short block as soon as no more data are available, and an empty one when no data arrive for a while.
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override;
  [[nodiscard]] std::optional<Tick> held_from() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return options_.maker->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

  // The following functions may be called by any thread.

  /// Makes read() end after the data that have arrived.
  void stop();
  [[nodiscard]] bool is_connected() const { return heard_ && !stopped_; }
  /// Whether a datagram of a board has come.
  [[nodiscard]] bool heard() const { return heard_; }
  /// Sets the number with which the run begins; the first event is placed nearest to it.
  void begin_at(Tick number) { begin_ = number; }
  /// Sets the number that the run's foremost source has reached.
  void others_at(Tick number) { others_ = number; }
  [[nodiscard]] std::uint16_t port() const { return socket_.port(); }

 private:
  static constexpr Tick kUnknown = std::numeric_limits<Tick>::max();

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
  DefectLog defect_log_;
  std::vector<HldSubevent> subevents_;  ///< subevents of the current datagram
  HldEvent event_;
  HitBlock ready_;  ///< data for the next block
  std::optional<Tick> first_;
  Tick high_ = 0;  ///< offset added to the numbers of sequence_
  bool begun_ = false;
  Tick began_at_ = 0;
  bool ended_ = false;
  std::int64_t data_ns_ = 0;   ///< arrival time of the last datagram
  std::int64_t empty_ns_ = 0;  ///< time when the socket was last empty
  SourceCounts counts_ = hld_counts();

  std::atomic<Tick> begin_ = kUnknown;
  std::atomic<Tick> others_ = {};
  std::atomic<bool> heard_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace eventloom
