#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace eventloom {

/// A private copy of MPI_COMM_WORLD. Making and freeing it is collective, as is every member whose
/// comment says so. For set-up and wind-down; nothing here is for the data path.
class Communicator {
 public:
  Communicator();
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] MPI_Comm handle() const { return handle_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Collective: the texts of all ranks, by rank, on every rank.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text) const;
  /// Collective: rank 0's text on every rank.
  [[nodiscard]] std::string broadcast(const std::string& text) const;

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// A barrier that does not block: construct it (collective), then ask done() until it says yes.
class PendingBarrier {
 public:
  explicit PendingBarrier(const Communicator& communicator);
  PendingBarrier(const PendingBarrier&) = delete;
  PendingBarrier& operator=(const PendingBarrier&) = delete;
  ~PendingBarrier();

  /// Also makes MPI progress.
  bool done();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace eventloom
