#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/tools/send/live_sender.hpp"
#include "core/dataflow/source.hpp"

namespace eventloom {

/// A recorded stream to be sent. Each epoch buffer is due when its last epoch is over.
class RecordedStream final : public PacedStream {
 public:
  /// The stream is sent as source `id`.
  RecordedStream(std::unique_ptr<Source> source, std::uint32_t id);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  [[nodiscard]] std::optional<Epoch> begin() override { return source_->first_epoch(); }
  const PacedBuffer* peek(Epoch horizon) override;
  void pop() override { end_ = buffers_[next_++].due; }
  [[nodiscard]] std::optional<Epoch> ended() const override;
  [[nodiscard]] Epoch complete(Epoch epoch) const override;
  void stop() override;

  /// Number of defects in the recording, dropped or sent unchanged.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_ + source_->anomalies(); }

 private:
  bool read_on();
  void take(EpochRange step);

  std::unique_ptr<Source> source_;
  StreamHeader header_;
  std::optional<Epoch> at_;  ///< beginning of the next step
  SliceData data_;
  std::vector<PacedBuffer> buffers_;  ///< buffers of the last step
  std::size_t next_ = 0;              ///< index into buffers_
  Epoch end_ = 0;                     ///< end of the last buffer taken
  bool ended_ = false;
  std::uint64_t damaged_ = 0;
};

}  // namespace eventloom
