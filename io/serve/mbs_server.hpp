#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/serve/mbs_clients.hpp"
#include "io/serve/mbs_sender_pacer.hpp"
#include "io/serve/mbs_sender_packer.hpp"
#include "io/serve/mbs_sender_recording.hpp"

namespace eventloom {

struct MbsServerSettings {
  MbsClientsSettings clients;
  MbsLayout layout;
  MbsPace pace;
  std::chrono::nanoseconds flush_after{100'000'000};   ///< longest wait of an event for a full buffer, with a pace
  std::chrono::nanoseconds keep_alive{1'000'000'000};  ///< native, with a pace: send an empty buffer after this silence
  std::size_t clients_to_start = 1;
  bool once = false;  ///< end once all data have been sent
};

/// Totals over all repetitions.
struct MbsServerTotals {
  std::uint64_t events = 0;  ///< events read and packed
  std::uint64_t event_bytes = 0;
  std::uint64_t buffers = 0;
  std::uint64_t too_large = 0;  ///< events that fit no group
  std::uint64_t time_jumps = 0;
};

/// Serves recorded events to any client over one of the MBS protocols, in one thread.
///
/// Starts when the given number of clients is connected, and pauses while there are none; later clients receive the
/// data sent from then on. After sending all data, closes the connections, and starts again with the next clients, or
/// ends. Each time, buffers are numbered from 1, so that a client sees whether it missed earlier ones. Data delivered
/// only to clients that were refused later are sent again.
///
/// Transport: all clients receive all data at the pace of the slowest. By request: a group is packed when a client
/// waits for it (with a pace: when it is due), and is also queued for the others; a client with a full queue loses its
/// oldest group.
class MbsServer {
 public:
  /// Starts listening. Throws UserError when the address is unavailable. `recording` must outlive this object.
  MbsServer(const MbsServerSettings& settings, MbsRecording& recording);

  /// "127.0.0.1:6000"
  [[nodiscard]] std::string address() const { return clients_.address(); }
  /// Returns when all data have been sent and `once` is set, or when a signal requests a stop.
  void run();

  [[nodiscard]] const MbsServerTotals& totals() const { return totals_; }
  [[nodiscard]] MbsClientsTotals clients() const { return clients_.totals(); }

 private:
  enum class Phase : std::uint8_t { waiting, sending, ending, done };

  void advance();
  void begin();
  void end_sending();
  void end_round();
  void restart();
  void stop();

  [[nodiscard]] bool may_produce() const;
  void produce();
  MbsGroupPtr next_group();
  bool next_event();
  MbsGroupPtr pack();
  MbsGroupPtr overdue();
  void deliver(const MbsGroupPtr& group);

  [[nodiscard]] std::int64_t wait_ns() const;

  MbsServerSettings settings_;
  MbsRecording& recording_;
  MbsClients clients_;
  MbsPacker packer_;
  MbsPacer pacer_;
  MbsServerTotals totals_;
  MbsServerTotals totals_before_;  ///< totals at the start of this round

  Phase phase_ = Phase::waiting;
  bool stopping_ = false;
  std::int64_t now_ = 0;                     ///< steady clock, ns
  std::optional<std::int64_t> due_;          ///< due time of the next event to pack
  bool at_end_ = false;                      ///< the recording has ended
  std::int64_t begun_at_ = 0;                ///< time when the packer began its group
  std::int64_t delivered_at_ = 0;            ///< time when the last group was delivered
  std::optional<std::int64_t> alone_since_;  ///< time since which it has no clients while sending
  std::int64_t stop_by_ = 0;
};

}  // namespace eventloom
