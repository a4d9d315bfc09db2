#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/serve/mbs_clients.hpp"

namespace eventloom {

/// Serves the groups that a program supplies, on its own thread. The program never waits: groups that a client does not
/// take in time are dropped for that client, or for all clients when the thread itself falls behind.
class MbsTap {
 public:
  struct Totals {
    std::size_t clients = 0;  ///< currently connected
    MbsClientsTotals all;
  };

  /// Starts listening. Throws UserError when the address is unavailable.
  MbsTap(const MbsClientsSettings& settings, const MbsLayout& layout);
  /// Disconnects all clients at once, unless join() has been called.
  ~MbsTap();
  MbsTap(const MbsTap&) = delete;
  MbsTap& operator=(const MbsTap&) = delete;

  /// "127.0.0.1:6002"
  [[nodiscard]] const std::string& address() const { return address_; }
  /// Whether there are clients to give groups to.
  [[nodiscard]] bool has_clients() const { return connected_ != 0; }
  void give(MbsGroupPtr group);

  /// Accepts no more clients or groups. The current clients receive the rest if they take it within two seconds.
  void end();
  /// Call after end(): waits until the thread has finished.
  void join();
  /// Totals so far.
  [[nodiscard]] Totals totals() const;

 private:
  enum class Ending : std::uint8_t { no, in_good_order, at_once };

  void run();
  void serve();
  void deliver_given();
  [[nodiscard]] bool over(std::int64_t now);
  void publish();
  void end(Ending how);
  void wake() const;

  MbsClients clients_;  ///< used by the thread only, like `end_by_`
  std::string address_;
  Descriptor wake_;
  std::int64_t end_by_ = 0;  ///< 0: not ending
  std::atomic<std::size_t> connected_ = 0;
  mutable std::mutex mutex_;  ///< protects the members below except the thread; held only briefly
  std::vector<MbsGroupPtr> given_;
  std::size_t given_bytes_ = 0;
  MbsClientCounts not_taken_;  ///< data that the thread did not take, summed over clients
  Totals totals_;
  Ending ending_ = Ending::no;
  std::thread thread_;  ///< last, as it uses the other members
};

}  // namespace eventloom
