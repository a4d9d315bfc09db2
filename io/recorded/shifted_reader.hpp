#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "io/recorded/hit_reader.hpp"
#include "io/uri/stream_shift.hpp"

namespace eventloom {

/// Changes times and channels of another reader's hits by the URI's keys `offset` and `system`. Hits shifted before
/// tick 0 are dropped (untimed) and reported.
class ShiftedReader final : public HitReader {
 public:
  ShiftedReader(std::unique_ptr<HitReader> reader, const StreamShift& shift)
      : reader_(std::move(reader)), shift_(shift) {}

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<Tick> holds_back() const override { return shifted(reader_->holds_back()); }
  void release_held() override { reader_->release_held(); }
  [[nodiscard]] std::optional<Tick> held_from() const override { return shifted(reader_->held_from()); }
  [[nodiscard]] bool is_away() const override { return reader_->is_away(); }
  [[nodiscard]] std::optional<double> share_read() const override { return reader_->share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override { return reader_->counts(); }

 private:
  [[nodiscard]] std::optional<Tick> shifted(std::optional<Tick> time) const {
    return time ? shift_.time(*time) : std::nullopt;
  }
  void report_untimed();

  std::unique_ptr<HitReader> reader_;
  StreamShift shift_;
  std::vector<bool> out_;
  std::uint64_t untimed_ = 0;
};

/// Returns `reader` with the changes that the keys of `uri` make.
std::unique_ptr<HitReader> shifted(std::unique_ptr<HitReader> reader, const SourceUri& uri);

}  // namespace eventloom
