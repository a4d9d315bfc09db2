#pragma once

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

/// Waits until the stream is known, or the process is asked to stop. From here on signals ask so.
void begin_live(LiveStream& stream);

/// Lets some time pass in which data may come.
void wait_for_more();

/// As for_each_step(), for a stream that begin_live() has begun: as it comes, until its peer ends it or the process is
/// asked to stop.
template <class Take>
void for_each_live_step(LiveStream& stream, Take take) {
  Epoch at = 0;
  bool stopping = false;
  for (;;) {
    const bool heard = stream.receive() != 0;
    const auto end = stream.end_epoch();
    const EpochRange step{at, end.value_or(stream.progress().heard_of)};
    if (step.end > at) {
      take(step);
      stream.forget(step.end);
      at = step.end;
    }
    if (end) return;
    if (stop_signal() != 0 && !stopping) {
      stopping = true;
      stream.finish();
    }
    if (const auto at_end = stream.progress(); at_end.drained) stream.give_up(at_end.reached, false);
    if (!heard) wait_for_more();
  }
}

}  // namespace eventloom
