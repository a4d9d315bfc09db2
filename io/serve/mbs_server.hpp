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
  std::chrono::nanoseconds flush_after{100'000'000};   ///< with a pace: no event waits longer for its buffer to fill
  std::chrono::nanoseconds keep_alive{1'000'000'000};  ///< native, with a pace: an empty buffer after so much silence
  std::size_t clients_to_start = 1;
  bool once = false;  ///< ends when everything has been sent
};

/// Over all repetitions.
struct MbsServerTotals {
  std::uint64_t events = 0;  ///< read from files and packed
  std::uint64_t event_bytes = 0;
  std::uint64_t buffers = 0;
  std::uint64_t too_large = 0;  ///< events that fit no buffer
  std::uint64_t time_jumps = 0;
};

/// Serves recorded events over one of the MBS protocols to any client, in one thread.
///
/// Starts when the given number of clients is connected; later clients get the data sent from then on, and while there
/// is none it pauses. When everything has been sent it closes the connections, and starts again with the next clients,
/// or ends. Buffers are numbered from 1 each time: a client's first buffer tells whether there were earlier ones. What
/// was sent to no client but such as turned out to be none is sent again.
///
/// transport: all clients get all data, and the slowest holds up the others. By request: a group is packed when a
/// client waits for it (with a pace: when it is due) and queued for the others too; a client whose queue is too long
/// loses the oldest group.
class MbsServer {
 public:
  /// Starts to listen. Throws UserError when the address is unavailable. `recording` outlives this.
  MbsServer(const MbsServerSettings& settings, MbsRecording& recording);

  /// "127.0.0.1:6000"
  [[nodiscard]] std::string address() const { return clients_.address(); }
  /// Returns when everything has been sent and `once` is set, or when a signal requests a stop.
  void run();

  [[nodiscard]] const MbsServerTotals& totals() const { return totals_; }
  [[nodiscard]] MbsClientsTotals clients() const { return clients_.totals(); }

 private:
  enum class Phase : std::uint8_t { waiting, sending, ending, done };

  void advance();
  void begin();
  void end_sending();
  void end_round();
  void begin_anew();
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
  MbsServerTotals totals_before_;  ///< this round

  Phase phase_ = Phase::waiting;
  bool stopping_ = false;
  std::int64_t now_ = 0;                     ///< steady clock, ns
  std::optional<std::int64_t> due_;          ///< of the recording's event that is packed next
  bool at_end_ = false;                      ///< of the recording
  std::int64_t begun_at_ = 0;                ///< when the packer began its group
  std::int64_t delivered_at_ = 0;            ///< when the last group was delivered
  std::optional<std::int64_t> alone_since_;  ///< since when it sends without a client
  std::int64_t stop_by_ = 0;
};

}  // namespace eventloom
