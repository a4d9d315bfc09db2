#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/sources/hit_reader.hpp"
#include "io/sources/loss_account.hpp"
#include "io/sources/reorder_buffer.hpp"

namespace eventloom {

/// A source that is read from a foreign format as it is needed and turned into epoch buffers, the
/// same bytes that `eventloom convert` would write. Holds what has been read and not been forgotten.
class EncodedStream final : public Source {
 public:
  /// `reorder`: see ReorderBuffer.
  EncodedStream(std::unique_ptr<HitReader> reader, std::size_t reorder);

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return losses_.tail(); }
  std::optional<Epoch> next_beginning(Epoch from) override;
  void limit_gaps(const GapLimit& limit) override;
  void forget(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override { return encoder_.hits() + losses_.hits(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies() + losses_.without_hits(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  /// Whole buffers, one behind the other. The memory never moves once it is there.
  struct Chunk {
    std::vector<std::byte> bytes;
    std::vector<IndexEntry> buffers;  ///< offsets in `bytes`
  };

  void read_until(Epoch epoch);
  void read_block();
  void take_epoch(Epoch epoch);
  [[noreturn]] void refuse_time(Tick time) const;
  void end();
  Chunk& chunk_with_room();
  void drop_forgotten();
  void close_buffer();

  std::unique_ptr<HitReader> reader_;
  ReorderBuffer ordered_;
  LossAccount losses_;
  EpochBufferEncoder encoder_;
  std::deque<Chunk> chunks_;
  std::vector<Chunk> spares_;  ///< of chunks that were forgotten
  std::optional<Epoch> first_epoch_;
  Epoch end_epoch_ = 0;
  Epoch forgotten_ = 0;  ///< nobody asks for epochs before this one
  EpochRange gap_;       ///< the longest so far
  std::optional<GapLimit> gap_limit_;
  bool all_read_ = false;  ///< the reader has no more
  bool ended_ = false;     ///< all is encoded
};

}  // namespace eventloom
