#pragma once

#include <memory>
#include <optional>

#include "core/dataflow/source.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_counts.hpp"
#include "io/files/defect_log.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Reads all hits of a stream of epoch buffers, so that they can be encoded into new ones. Items other than hits are
/// left out.
class StoredReader final : public HitReader {
 public:
  explicit StoredReader(std::unique_ptr<Source> stream);

  [[nodiscard]] const StreamHeader& header() const override { return stream_->header(); }
  [[nodiscard]] const std::string& name() const override { return stream_->name(); }
  [[nodiscard]] InputFile input() const override { return stream_->input(); }
  bool read(HitBlock& block) override;
  /// Fraction by time, not by bytes.
  [[nodiscard]] std::optional<double> share_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return stream_->anomalies(); }
  /// Counts of the markers left out.
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void take_step(EpochRange step, HitBlock& block);
  void take_damage(const Damage& damage, HitBlock& block) const;
  void take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, HitBlock& block);

  std::unique_ptr<Source> stream_;
  std::optional<Epoch> first_;
  std::optional<Epoch> at_;  ///< epoch of the next item; std::nullopt at the end
  SliceData data_;
  MarkerCounts left_out_;
  DefectLog defect_log_;
};

}  // namespace eventloom
