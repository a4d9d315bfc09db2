#pragma once

#include <gtest/gtest.h>

#ifdef EVENTLOOM_HAS_HIGHWAY
#include <hwy/targets.h>
#endif

namespace eventloom::test {

/// Calls `use` with each kind of vector instructions that the processor supports, from the widest down to the baseline;
/// once if the program is built without them.
template <class Use>
void with_each_processor(Use use) {
#ifdef EVENTLOOM_HAS_HIGHWAY
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    use();
  }
  hwy::SetSupportedTargetsForTest(0);
#else
  use();
#endif
}

}  // namespace eventloom::test
