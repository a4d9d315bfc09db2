#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/tools/bench/message_times.hpp"
#include "app/tools/bench/payload_pool.hpp"
#include "core/engine/claim_role.hpp"
#include "core/engine/role.hpp"
#include "core/ring/ring_consumer.hpp"
#include "formats/ids.hpp"
#include "formats/ring_layout.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// How a benchmark's builder uses received data.
enum class Receive {
  look,         ///< reads the headers, and proves the bodies that come from other hosts
  copy,         ///< copies every byte out of the ring, as a builder must
  hits,         ///< reads the data in the ring hit by hit: two words each, like a T marker with its ID
  hits_copied,  ///< likewise, and copies each hit to columns of times and channels
  verify,       ///< compares every byte with what was sent
};

struct SinkSettings {
  BuilderId id;
  std::vector<std::uint8_t> senders;  ///< one per source: whether it sends to this builder
  Receive receive = Receive::look;
  std::uint32_t slices_in_flight = 4;  ///< slices claimed at a time, if builders claim
  /// Time after each complete slice during which the builder takes nothing; does not use the core.
  std::chrono::nanoseconds build_time{0};
  ClaimRole* claims = nullptr;                            ///< null unless builders claim; must outlive the sink
  std::vector<std::shared_ptr<const PayloadPool>> pools;  ///< one per source, for verify
  MessageTimes* times = nullptr;  ///< notes when each message is complete; may be null; must outlive the sink
  SteadyTime start;               ///< origin of bytes_over_time
  double bin_seconds = 0.01;
};

/// Data received from one source.
struct SinkCount {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wrong_chunks = 0;              ///< verify: chunks with at least one wrong byte
  std::vector<std::uint64_t> bytes_over_time;  ///< per bin
};

/// A builder that does not build: it receives, counts and releases.
class SinkRole final : public Role {
 public:
  SinkRole(SinkSettings settings, Scheduler& scheduler, std::vector<RingConsumer> rings);

  std::size_t do_work(SteadyTime now) override;
  [[nodiscard]] bool done() const override { return n_ended_ == n_senders_; }

  [[nodiscard]] const std::vector<SinkCount>& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t slices() const { return slices_; }
  [[nodiscard]] SteadyTime last_message() const { return last_; }

 private:
  void take_chunk(const ChunkHeader& header, std::span<const std::byte> body);
  void use(const ChunkHeader& header, std::span<const std::byte> body);
  void read_hits(std::span<const std::byte> body);
  void finish_slices();
  void limit_lead();
  [[nodiscard]] bool whole(SliceId slice) const;
  void report_claims();

  SinkSettings settings_;
  Scheduler& scheduler_;
  std::vector<RingConsumer> rings_;
  std::vector<SinkCount> counts_;    ///< one per source
  std::vector<std::uint64_t> upto_;  ///< one per source: one past the last completely received slice
  std::vector<Chunk> chunks_;        ///< chunks of the current cell
  std::vector<std::byte> copy_;
  std::vector<std::uint64_t> times_;  ///< times of the copied hits of a chunk
  std::vector<std::uint32_t> channels_;
  std::uint32_t n_senders_ = 0;
  std::uint32_t n_ended_ = 0;
  SliceId from_;
  SliceId seen_end_;            ///< one past the last slice of which data were received
  std::uint64_t slices_ = 0;    ///< completely received from all senders
  std::uint64_t reported_ = 0;  ///< the value of slices_ in the last claim
  SteadyTime now_;
  std::size_t bin_ = 0;  ///< current bin of bytes_over_time
  SteadyTime last_;
  SteadyTime busy_until_;
};

}  // namespace eventloom
