#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/mbs/mbs_sender_pacer.hpp"
#include "io/mbs/mbs_sender_packer.hpp"
#include "io/mbs/mbs_sender_recording.hpp"
#include "io/mbs/mbs_server_client.hpp"
#include "io/mbs/mbs_server_socket.hpp"

namespace eventloom {

struct MbsServerSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   ///< 0: the system chooses
  bool by_request = false;  ///< the stream protocol, else transport
  MbsLayout layout;
  MbsPace pace;
  std::chrono::nanoseconds flush_after{100'000'000};   ///< with a pace: no event waits longer for its buffer to fill
  std::chrono::nanoseconds keep_alive{1'000'000'000};  ///< native, with a pace: an empty buffer after so much silence
  std::chrono::nanoseconds client_timeout{30'000'000'000};  ///< clients idle for this long are disconnected
  std::size_t client_bytes = std::size_t{4} << 20;          ///< waiting for one client, plus at most a group
  std::size_t clients = 1;                                  ///< to start with
  bool once = false;                                        ///< ends when everything has been sent
};

/// Over all repetitions.
struct MbsServerTotals {
  std::uint64_t events = 0;  ///< read from files and packed
  std::uint64_t event_bytes = 0;
  std::uint64_t buffers = 0;
  std::uint64_t too_large = 0;  ///< events that fit no buffer
  std::uint64_t time_jumps = 0;
  std::uint64_t clients = 0;
  std::uint64_t timed_out = 0;  ///< clients
  std::uint64_t refused = 0;    ///< clients
  MbsClientCounts sent;         ///< to all clients together
};

/// Serves recorded events over one of the MBS protocols to any client, in one thread.
///
/// Starts when the given number of clients is connected; later clients get the data sent from then on, and while there
/// is none it pauses. When everything has been sent it closes the connections, and starts again with the next clients,
/// or ends.
///
/// transport: all clients get all data, and the slowest holds up the others. By request: a group is packed when a
/// client waits for it (with a pace: when it is due) and queued for the others too; a client whose queue is too long
/// loses the oldest group.
class MbsServer {
 public:
  /// Starts to listen. Throws UserError when the address is unavailable. `recording` outlives this.
  MbsServer(const MbsServerSettings& settings, MbsRecording& recording);

  /// "127.0.0.1:6000"
  [[nodiscard]] std::string address() const { return bound_to(listener_); }
  /// Returns when everything has been sent and `once` is set, or when a signal requests a stop.
  void run();

  [[nodiscard]] const MbsServerTotals& totals() const { return totals_; }

 private:
  enum class Phase : std::uint8_t { waiting, sending, ending, done };

  void advance();
  void begin();
  void end_sending();
  void end_round();
  void stop();

  [[nodiscard]] bool may_produce() const;
  void produce();
  MbsGroupPtr next_group();
  bool next_event();
  MbsGroupPtr pack();
  MbsGroupPtr overdue();
  void deliver(const MbsGroupPtr& group);

  void accept_all();
  void serve_clients();
  void remove(const MbsServerClient& client);
  [[nodiscard]] std::int64_t wait_ns() const;
  void wait();

  MbsServerSettings settings_;
  MbsRecording& recording_;
  MbsServerSocket listener_;
  MbsPacker packer_;
  MbsPacer pacer_;
  MbsGroupPtr handshake_;
  std::vector<MbsServerClient> clients_;
  MbsServerTotals totals_;

  Phase phase_ = Phase::waiting;
  bool stopping_ = false;
  std::int64_t now_ = 0;                     ///< steady clock, ns
  std::optional<std::int64_t> due_;          ///< of the recording's event that is packed next
  bool at_end_ = false;                      ///< of the recording
  std::int64_t begun_at_ = 0;                ///< when the packer began its group
  std::int64_t delivered_at_ = 0;            ///< when the last group was delivered
  std::optional<std::int64_t> alone_since_;  ///< since when it sends without a client
  std::int64_t stop_by_ = 0;
  std::int64_t listen_again_at_ = 0;
};

}  // namespace eventloom
