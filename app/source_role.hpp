#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/role.hpp"
#include "core/dataflow/source.hpp"
#include "core/exchange/outbox.hpp"
#include "formats/geometry.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

struct SourceRoleSettings {
  SliceGeometry geometry;
  SliceId first_slice;
  std::uint32_t n_builders = 1;
  /// A source serves no builder this many slices ahead of its slowest one: bounds what a source
  /// that is read as it comes must keep.
  std::uint64_t max_lead = 0;
  /// Recorded time per real time; 0: as fast as possible.
  double speed = 0;
};

/// Brings in the data of the sources of one rank: asks the scheduler whom to serve and hands epoch
/// buffers to the outboxes, one per builder, which all sources of the rank share.
class SourceRole final : public Role {
 public:
  struct LocalSource {
    SourceId id;
    std::unique_ptr<Source> stream;
  };
  SourceRole(SourceRoleSettings settings, const Scheduler& scheduler, std::vector<LocalSource> sources,
             std::vector<Outbox> outboxes);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return ended_ == streams_.size(); }
  void settle() override;

  [[nodiscard]] std::uint64_t hits_read() const;
  [[nodiscard]] std::uint64_t anomalies() const;
  /// Slices that every builder has been sent by every source here, from the first on; and how many
  /// there will be, once known.
  [[nodiscard]] std::uint64_t slices_sent() const;
  [[nodiscard]] std::optional<std::uint64_t> slices_expected() const;

 private:
  struct Stream {
    LocalSource source;
    std::vector<SliceId> next;        ///< by builder
    std::vector<std::uint8_t> ready;  ///< by builder
    std::uint64_t turn = 0;
    std::optional<SliceId> data_end;  ///< one past the last slice with data, once known
    std::vector<Damage> tail_damage;  ///< what is missing after the end: none or one record
    SliceId send_end;                 ///< one past the last slice to send, as far as known
    std::vector<std::uint8_t> told_end;
    bool ended = false;

    [[nodiscard]] SliceId lowest() const;
  };
  /// What an outbox is sending; keeps the damage records where the outbox reads them.
  struct UnderWay {
    Stream* stream = nullptr;
    SliceId slice;
    SliceData data;
  };

  std::size_t serve(Stream& stream, SteadyTime now);
  void look_for_credits(Stream& stream, SteadyTime now);
  [[nodiscard]] bool due(SliceId slice, SteadyTime now) const;
  bool send(Stream& stream, BuilderId builder);
  void learn_end(Stream& stream);
  std::size_t send_ends(Stream& stream);
  void forget_sent();

  SourceRoleSettings settings_;
  const Scheduler& scheduler_;
  std::vector<Stream> streams_;
  std::vector<Outbox> outboxes_;
  std::vector<UnderWay> under_way_;  ///< by builder
  std::size_t ended_ = 0;
  std::optional<SteadyTime> start_;
};

}  // namespace eventloom
