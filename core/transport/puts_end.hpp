#pragma once

#include <exception>

#include "core/transport/transport.hpp"

namespace eventloom {

/// Declare it after all that is put from, so that it goes first. Where an exception takes that memory away, this rank
/// makes progress before: puts that MPI has not carried out yet read from it, and UCX ends a process whose memory it
/// cannot read, before the error is told. A flush could wait for ranks that are gone.
class PutsEnd {
 public:
  explicit PutsEnd(Transport& transport) : transport_(transport) {}
  ~PutsEnd() {
    if (std::uncaught_exceptions() == 0) return;
    try {
      for (int i = 0; i < kTurns; ++i) transport_.progress();
    } catch (const std::exception&) {
      return;  // the error that is under way is the one to be told
    }
  }
  PutsEnd(const PutsEnd&) = delete;
  PutsEnd& operator=(const PutsEnd&) = delete;

 private:
  /// Some milliseconds. One in a hundred probes of Open MPI makes progress of windows.
  static constexpr int kTurns = 10'000;

  Transport& transport_;
};

}  // namespace eventloom
