#pragma once

#include <memory>

#include "app/tools/bench/message_times.hpp"
#include "app/tools/bench/payload_pool.hpp"
#include "core/dataflow/source.hpp"
#include "core/engine/role.hpp"

namespace eventloom {

/// Messages for a benchmark, one per slice of one epoch, until the time or the number of slices is reached. Their
/// contents are arbitrary; see PayloadPool.
class SyntheticSource final : public Source {
 public:
  struct Limits {
    double seconds = 0;        ///< time limit, counted from the first collect(); 0: no limit
    std::uint64_t slices = 0;  ///< 0: no limit
  };
  /// `times`: notes when each message is collected; may be null, otherwise it must outlive the source.
  SyntheticSource(std::shared_ptr<const PayloadPool> pool, Limits limits, MessageTimes* times = nullptr);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override { return Epoch(0); }
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override { return end_; }
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return std::nullopt; }
  void release_before(Epoch) override {}
  [[nodiscard]] std::uint64_t hits_read() const override { return 0; }
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }

 private:
  [[nodiscard]] bool time_is_up(std::uint64_t bytes);

  std::shared_ptr<const PayloadPool> pool_;
  Limits limits_;
  MessageTimes* times_;
  StreamHeader header_;
  std::string name_ = "synthetic";
  std::optional<SteadyTime> start_;
  std::uint64_t bytes_since_look_ = 0;  ///< the clock is read only after enough bytes
  Epoch highest_ = 0;
  std::optional<Epoch> end_;
};

}  // namespace eventloom
