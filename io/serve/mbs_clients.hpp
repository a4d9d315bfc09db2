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
  std::string name;                                           ///< begins messages about clients; empty: nothing does
  std::string advice = "choose another --port or --address";  ///< where the address is unavailable
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;   ///< 0: the system chooses
  bool by_request = false;  ///< the stream protocol, else transport
  bool drops = false;       ///< a client whose queue is full loses the oldest groups, and delays nobody
  /// By transport a connection is a client when it has been silent for so long; others say something at once, or leave.
  std::chrono::nanoseconds silence{100'000'000};
  std::chrono::nanoseconds timeout{30'000'000'000};  ///< clients idle for this long are disconnected
  std::size_t client_bytes = std::size_t{4} << 20;   ///< waiting for one client, plus at most a group
  std::size_t most = 64;                             ///< further ones are refused
};

struct MbsClientsTotals {
  std::uint64_t connected = 0;  ///< connections, those of no client included
  std::uint64_t clients = 0;    ///< admitted, and not refused since
  std::uint64_t timed_out = 0;
  std::uint64_t refused = 0;      ///< too many, or they sent an invalid request
  std::uint64_t never = 0;        ///< left before they were clients
  std::uint64_t unread = 0;       ///< clients that left data unread
  std::uint64_t lost_events = 0;  ///< taken from the recording, and sent to no client that could read them
  MbsClientCounts sent;           ///< to all clients together
};

/// The clients of an MBS server: accepts them, queues groups for them and sends these. Never blocks but in wait(). Of
/// one thread. Times are nanoseconds of the steady clock.
///
/// Connections that have not been admitted (see MbsServerClient) get no groups and do not count, nor does a client that
/// is refused later. What the last client leaves unsent waits for the next, unless clients lose what they do not take.
class MbsClients {
 public:
  /// Starts to listen. Throws UserError when the address is unavailable.
  MbsClients(const MbsClientsSettings& settings, const MbsLayout& layout);

  /// "127.0.0.1:6000"
  [[nodiscard]] std::string address() const { return bound_to(listener_); }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Whether each can take another group; true for an empty queue.
  [[nodiscard]] bool all_have_room() const;
  /// Whether none has a group in its queue.
  [[nodiscard]] bool all_are_empty() const;
  /// Whether any waits for a group that it has requested.
  [[nodiscard]] bool any_is_waiting() const;
  [[nodiscard]] bool any_is_finishing() const;

  /// A round begins: nothing has been delivered, and today's clients are its first.
  void begin_round();
  /// Something was delivered in this round, and only to clients that have been refused since: it may be sent again.
  [[nodiscard]] bool round_is_void() const { return round_ >= Round::delivered && valid_ == 0; }
  /// Nobody will get what waits for the next client: it is counted as lost.
  void end_round();
  /// As end_round(), but it will be sent again.
  void forget_round();

  /// Queues a group for all.
  void deliver(const MbsGroupPtr& group);
  /// Sends what they take, and removes those that have ended.
  void serve(std::int64_t now);
  /// Waits for `ns` at most until a client, or `wake_fd` unless it is -1, has something to say or takes data.
  void wait(std::int64_t ns, int wake_fd = -1);

  void stop_listening() { listener_.close(); }
  /// No more groups follow: connections are closed when their queues have been sent.
  void finish();
  /// As finish(), but groups that have not been begun are dropped.
  void cut();
  /// Disconnects all.
  void drop_all();

  /// Those of today's clients included.
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
  [[nodiscard]] bool tells() const;
  [[nodiscard]] bool is_full(const MbsServerClient& client) const;

  MbsClientsSettings settings_;
  MbsServerSocket listener_;
  MbsGroupPtr handshake_;
  std::vector<MbsServerClient> clients_;  ///< and those that may become clients
  MbsClientsTotals totals_;               ///< `sent`: to clients that have gone
  std::deque<MbsGroupPtr> left_over_;     ///< for the next client
  Round round_ = Round::none;
  std::size_t valid_ = 0;  ///< clients of this round that have not been refused
  std::int64_t listen_again_at_ = 0;
};

}  // namespace eventloom
