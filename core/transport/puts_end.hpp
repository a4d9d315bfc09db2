#pragma once

#include <exception>

#include "core/transport/transport.hpp"

namespace eventloom {

/// Declare after every buffer that puts read from, so that it is destroyed first. If an exception destroys those
/// buffers, this rank makes progress before: puts that MPI has not carried out yet still read them, and UCX ends a
/// process whose memory it cannot read, before the error is reported. A flush could wait for ranks that are gone.
class PutsEnd {
 public:
  explicit PutsEnd(Transport& transport) : transport_(transport) {}
  ~PutsEnd() {
    if (std::uncaught_exceptions() == 0) return;
    try {
      for (int i = 0; i < kTurns; ++i) transport_.progress();
    } catch (const std::exception&) {
      return;  // the exception in flight is the one to report
    }
  }
  PutsEnd(const PutsEnd&) = delete;
  PutsEnd& operator=(const PutsEnd&) = delete;

 private:
  /// Takes some milliseconds. One in a hundred probes of Open MPI makes progress of windows.
  static constexpr int kTurns = 10'000;

  Transport& transport_;
};

}  // namespace eventloom
