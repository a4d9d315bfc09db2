#pragma once

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

/// Waits until the stream is known or the process is asked to stop. Installs the stop signals.
void begin_live(LiveStream& stream);

/// Waits briefly, so that data may arrive.
void wait_for_more();

/// Like for_each_step(), for a live stream started by begin_live(). Continues until the peer ends the stream or the
/// process is asked to stop.
template <class Take>
void for_each_live_step(LiveStream& stream, Take take) {
  Epoch at = 0;
  bool stopping = false;
  for (;;) {
    const bool received = stream.receive() != 0;
    const auto end = stream.end_epoch();
    const EpochRange step{at, end.value_or(stream.progress().received)};
    if (step.end > at) {
      take(step);
      stream.release_before(step.end);
      at = step.end;
    }
    if (end) return stream.close();
    if (stop_signal() != 0 && !stopping) {
      stopping = true;
      stream.finish(std::nullopt);
    }
    if (const auto at_end = stream.progress(); at_end.drained) stream.advance(at_end.complete, Advance::ended);
    if (!received) wait_for_more();
  }
}

}  // namespace eventloom
