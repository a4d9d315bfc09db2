#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/engine/role.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/mpi_message_channel.hpp"

namespace eventloom {

/// Control traffic alongside the data, as in the DABC report (GSI 2006, 9.3): every rank sends short reports to a
/// controller on rank 0, which broadcasts to all ranks after a fixed number of them. Uses two-sided messages.
class ControlRole final : public Role {
 public:
  struct Settings {
    double per_message = 0;  ///< reports per data message
    /// Number of data messages this rank has sent so far, and whether it has sent all of them.
    std::function<std::uint64_t()> sent;
    std::function<bool()> all_sent;
  };
  /// Collective, like the destructor.
  ControlRole(Settings settings, const Communicator& communicator);

  std::size_t do_work(SteadyTime now) override;
  /// Whether the controller has received and confirmed the last report of every rank.
  [[nodiscard]] bool done() const override { return over_; }

  /// Messages sent by this rank: reports and, on rank 0, the broadcasts, counted once per receiver.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  struct Note {
    std::uint64_t reports = 0;  ///< report: sent so far by this rank; broadcast: received from its receiver
    std::uint32_t kind = 0;
    std::uint32_t from = 0;
    std::uint64_t padding[6] = {};  ///< pads a report to 64 bytes
  };
  enum Kind : std::uint32_t { kReport, kLastReport, kBroadcast, kOver };

  std::size_t report();
  void take(const Note& note);
  void broadcast(Kind kind);
  void send(int to, const Note& note);

  Settings settings_;
  MpiMessageChannel channel_;
  std::uint32_t rank_;
  std::uint64_t reported_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t messages_ = 0;
  bool reported_last_ = false;
  bool over_ = false;
  std::vector<std::byte> buffer_;
  // Used only by the controller:
  std::vector<std::uint64_t> heard_;  ///< reports received, one count per rank
  std::uint64_t since_broadcast_ = 0;
  std::uint32_t n_last_ = 0;
};

}  // namespace eventloom
