#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Appends `loss` to the losses of `block`. If there are many, merges it into a recent loss of the same cause before
/// the same hit, if any, so that damage cannot make memory grow.
void add_loss(HitBlock& block, const Loss& loss);

/// Likewise, but merges it into the last loss, if that has the same cause and is before the same hit.
void join_loss(HitBlock& block, const Loss& loss);

/// Replaces the hits from `first_hit`, an event kept until now, by `loss`, which is inserted as loss number `at`. If
/// there are very many losses, their order is not kept.
void take_back_hits(HitBlock& block, std::size_t first_hit, std::size_t at, Loss loss);

/// Replaces the hits for which `goes` is true by losses of this cause; without one, removes them. `goes` has one
/// element per hit.
void leave_out_hits(HitBlock& block, const std::vector<bool>& goes, std::optional<DropCause> cause);

}  // namespace eventloom
