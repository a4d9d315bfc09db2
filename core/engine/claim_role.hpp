#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/role.hpp"
#include "core/exchange/note_ring.hpp"
#include "formats/control_wire.hpp"
#include "formats/ids.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// Used when builders claim their slices; one on each rank that sends to builders or builds. Passes the claims of its
/// builders to the assigner, and enters the assignments into the scheduler's claims.
class ClaimRole final : public Role {
 public:
  /// `to_assigner`: std::nullopt on ranks without builders.
  ClaimRole(ClaimBook& book, std::optional<NoteSender> to_assigner, const NoteReceiver& from_assigner);

  /// Replaces the claim of a builder of this rank; the next do_work() sends it.
  void claim(const Claim& claim) { unsent_[claim.builder] = claim; }
  [[nodiscard]] SliceId claimed_end() const { return book_.end(); }

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return unsent_.empty(); }

 private:
  std::size_t learn();
  void learn(std::span<const std::byte> note);
  std::size_t send_claims();

  ClaimBook& book_;
  std::optional<NoteSender> to_assigner_;
  NoteReceiver from_assigner_;
  std::map<std::uint32_t, Claim> unsent_;  ///< keyed by builder
  std::vector<Claim> note_;
};

/// Runs on one rank: assigns the slices, in ascending order, to the builders that have claimed them, as the scheduler
/// decides, and notifies every rank concerned. Skips gaps in which no source has data. Sends one short note per rank
/// and batch of slices.
class AssignerRole final : public Role {
 public:
  /// `scheduler`: a separate instance, whose claims this role keeps. `ahead`: how many slices it may assign beyond the
  /// lowest one not yet built. `finished`: slices that are not assigned; must outlive the role.
  AssignerRole(std::unique_ptr<Scheduler> scheduler, const SliceSet& finished, std::uint32_t n_builders,
               std::uint64_t ahead, std::vector<NoteReceiver> claims, std::vector<NoteSender> assignments);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override;
  [[nodiscard]] std::uint64_t notes_sent() const { return notes_sent_; }

 private:
  struct Builder {
    Claim claim;
    std::uint64_t given = 0;
    std::deque<SliceId> open;  ///< assigned, and not known to be built
  };
  struct Given {
    SliceId slice;
    BuilderId builder;
  };
  struct Reader {
    NoteSender ring;
    std::uint64_t reported = 0;  ///< slices already reported to it
  };

  std::size_t receive_claims();
  void take(const Claim& claim);
  [[nodiscard]] SliceId lowest_open() const;
  [[nodiscard]] bool may_get(const Builder& builder) const;
  [[nodiscard]] bool runs_out(const Builder& builder) const;
  [[nodiscard]] bool is_time_to_assign() const;
  void find_least_given();
  std::size_t assign();
  [[nodiscard]] std::optional<BuilderId> choose();
  std::size_t send_assignments();
  void send_note(Reader& reader);

  std::unique_ptr<Scheduler> scheduler_;
  const SliceSet& finished_;
  std::uint64_t ahead_;
  std::vector<NoteReceiver> claims_;
  std::vector<Builder> builders_;
  std::vector<Reader> readers_;
  std::deque<Given> log_;          ///< the last slices assigned
  std::uint64_t given_ = 0;        ///< slices assigned
  std::uint64_t least_given_ = 0;  ///< fewest slices assigned to any unfinished builder
  std::vector<std::uint32_t> room_;
  std::vector<std::byte> note_;
  std::uint64_t notes_sent_ = 0;
};

}  // namespace eventloom
