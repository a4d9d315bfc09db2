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

/// Serves the groups that a program gives it, on a thread of its own. The program never waits: groups that a client
/// does not take in time are dropped for that client, and for all when the thread itself does not get on.
class MbsTap {
 public:
  struct Totals {
    std::size_t clients = 0;  ///< connected now
    MbsClientsTotals all;
  };

  /// Listens from here on. Throws UserError when the address is unavailable.
  MbsTap(const MbsClientsSettings& settings, const MbsLayout& layout);
  /// Disconnects all at once, unless join() has been called.
  ~MbsTap();
  MbsTap(const MbsTap&) = delete;
  MbsTap& operator=(const MbsTap&) = delete;

  /// "127.0.0.1:6002"
  [[nodiscard]] const std::string& address() const { return address_; }
  /// Whether there is anybody to give groups to.
  [[nodiscard]] bool has_clients() const { return connected_ != 0; }
  void give(MbsGroupPtr group);

  /// No more groups follow, and no more clients: those that are there get the rest, if they take it within two seconds.
  void end();
  /// After end(): waits for that.
  void join();
  /// So far.
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

  MbsClients clients_;  ///< of the thread, as `end_by_` is
  std::string address_;
  Descriptor wake_;
  std::int64_t end_by_ = 0;  ///< 0: not ending
  std::atomic<std::size_t> connected_ = 0;
  mutable std::mutex mutex_;  ///< of all that follows but the thread; held for moments only
  std::vector<MbsGroupPtr> given_;
  std::size_t given_bytes_ = 0;
  MbsClientCounts not_taken_;  ///< by the thread, summed over clients
  Totals totals_;
  Ending ending_ = Ending::no;
  std::thread thread_;  ///< last: it uses the rest
};

}  // namespace eventloom
