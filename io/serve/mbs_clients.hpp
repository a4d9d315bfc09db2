#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "io/serve/mbs_sender_packer.hpp"
#include "io/serve/mbs_server_client.hpp"
#include "io/serve/mbs_server_socket.hpp"

namespace eventloom {

struct MbsClientsSettings {
  std::string name;                                           ///< prefix of messages about clients
  std::string advice = "choose another --port or --address";  ///< ends the error about an unavailable address
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   ///< 0: the system chooses
  bool by_request = false;  ///< stream protocol, else transport
  bool drops = false;       ///< a client whose queue is full loses its oldest groups instead of delaying the others
  /// Transport: a connection that stays silent for this long is admitted; other programs send data at once, or leave.
  std::chrono::nanoseconds silence{100'000'000};
  std::chrono::nanoseconds timeout{30'000'000'000};  ///< clients idle for this long are disconnected
  std::size_t client_bytes = std::size_t{4} << 20;   ///< capacity of a client's queue, exceeded by at most one group
  std::size_t most = 64;                             ///< most connections; further ones are refused
};

struct MbsClientsTotals {
  std::uint64_t connected = 0;  ///< all connections, admitted or not
  std::uint64_t clients = 0;    ///< clients admitted and not refused later
  std::uint64_t timed_out = 0;
  std::uint64_t refused = 0;      ///< connections above the limit, and clients that sent an invalid request
  std::uint64_t never = 0;        ///< connections that left before admission
  std::uint64_t unread = 0;       ///< clients that left data unread
  std::uint64_t lost_events = 0;  ///< events taken from the recording that no client could read
  MbsClientCounts sent;           ///< total over all clients
};

/// The clients of an MBS server: accepts connections, queues groups for the clients and sends them. Only wait() blocks.
/// Not thread-safe. Times are in nanoseconds of the steady clock.
///
/// Connections that have not been admitted (see MbsServerClient) receive no groups and do not count, nor does a client
/// that is refused later. In a round, and always unless `drops` is set, the next client receives the groups that the
/// last one left unsent.
class MbsClients {
 public:
  /// Starts listening. Throws UserError when the address is unavailable.
  MbsClients(const MbsClientsSettings& settings, const MbsLayout& layout);

  /// "127.0.0.1:6000"
  [[nodiscard]] std::string address() const { return bound_to(listener_); }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Whether every client can take another group; an empty queue always can.
  [[nodiscard]] bool all_have_room() const;
  /// Whether all queues are empty.
  [[nodiscard]] bool all_are_empty() const;
  /// Whether any client waits for a group that it has requested.
  [[nodiscard]] bool any_is_waiting() const;
  [[nodiscard]] bool any_is_finishing() const;

  /// Begins a round with the current clients.
  void begin_round();
  /// Whether data were delivered in this round, but only to clients that have been refused since, so that they may be
  /// sent again.
  [[nodiscard]] bool round_is_void() const { return round_ >= Round::delivered && valid_ == 0; }
  /// Ends the round. Data that wait for the next client are counted as lost.
  void end_round();
  /// Ends the round without counting losses: its data will be sent again.
  void forget_round();

  /// Queues a group for all clients.
  void deliver(const MbsGroupPtr& group);
  /// Admits clients, sends the data that they accept, and removes clients that have ended.
  void serve(std::int64_t now);
  /// Waits at most `ns` until a client, or `wake_fd` unless it is -1, is ready; then receives requests and accepts
  /// connections.
  void wait(std::int64_t ns, int wake_fd = -1);

  void stop_listening() { listener_.close(); }
  /// No more groups follow: closes each connection once its queue has been sent.
  void finish();
  /// Like finish(), but drops groups whose sending has not begun.
  void cut();
  /// Disconnects all clients.
  void drop_all();

  /// Includes the current clients.
  [[nodiscard]] MbsClientsTotals totals() const;

 private:
  enum class Round : std::uint8_t { none, begun, delivered, finishing };

  void accept_all();
  void accept(MbsServerSocket socket, std::string name);
  void admit(MbsServerClient& client);
  void remove(const MbsServerClient& client);
  void remove_refused(const MbsServerClient& client);
  void note_unread(const MbsServerClient& client);
  void forget(const MbsServerClient& client);
  [[nodiscard]] bool reports() const;
  [[nodiscard]] bool is_full(const MbsServerClient& client) const;

  MbsClientsSettings settings_;
  MbsServerSocket listener_;
  MbsGroupPtr handshake_;
  std::vector<MbsServerClient> clients_;  ///< includes connections not yet admitted
  MbsClientsTotals totals_;               ///< `sent` covers former clients only
  std::deque<MbsGroupPtr> left_over_;     ///< unsent groups for the next client
  Round round_ = Round::none;
  std::size_t valid_ = 0;  ///< clients of this round not refused so far
  std::int64_t listen_again_at_ = 0;
};

}  // namespace eventloom
