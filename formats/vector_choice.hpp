#pragma once

#include <hwy/highway.h>

namespace eventloom {

/// Chooses the processor's vectors for all functions that Highway has compiled for several of them. Until the choice is
/// made, Highway makes it in every call, which takes microseconds: call this before the address of such a function is
/// taken.
inline void choose_vectors() {
  auto& target = hwy::GetChosenTarget();
  if (!target.IsInitialized()) target.Update(hwy::SupportedTargets());
}

}  // namespace eventloom
