#include "schedulers/scheduler.hpp"

namespace eventloom {

SliceId next_unfinished(const Scheduler& scheduler, const SliceSet& finished, BuilderId builder, SliceId from) {
  for (;;) {
    const auto slice = scheduler.next_slice(builder, from);
    if (!slice) return kNoSlice;
    if (!finished.contains(*slice)) return *slice;
    from = {slice->value + 1};
  }
}

}  // namespace eventloom
