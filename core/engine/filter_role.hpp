#pragma once

#include <cstdint>
#include <vector>

#include "core/dataflow/selector.hpp"
#include "core/engine/role.hpp"
#include "core/exchange/inbox.hpp"
#include "formats/slice_set.hpp"

namespace eventloom {

struct FilterRoleSettings {
  FilterId id;
  SliceId first_slice;
  SliceSet finished = {};  ///< slices that are not built
  std::uint32_t n_filters = 1;
  std::uint32_t n_builders = 1;
  std::uint32_t slices_in_flight = 4;
};

/// Filter k of F receives the built slices n with n mod F = k, merges those of all builders in ascending order, and
/// passes them to the selector.
class FilterRole final : public Role {
 public:
  /// `inboxes`: indexed by builder. The selector determines how many kinds of events a slice has.
  FilterRole(FilterRoleSettings settings, std::vector<Inbox> inboxes, Selector selector);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return finished_; }
  [[nodiscard]] SteadyTime due() const override;

 private:
  struct Lane {
    Inbox inbox;
    SliceAssembler assembler{1};
  };
  bool take_next();
  bool pass_over();
  [[nodiscard]] bool all_built() const;

  FilterRoleSettings settings_;
  std::vector<Lane> lanes_;
  Selector selector_;
  SliceId next_;
  std::vector<BuiltSlice> built_;
  bool finished_ = false;
};

}  // namespace eventloom
