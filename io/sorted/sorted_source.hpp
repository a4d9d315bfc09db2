#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/dataflow/source.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// One stream of a folder of time-sorted streams. The first stream also carries the losses of the run that made them,
/// over its whole duration.
class SortedSource final : public Source {
 public:
  /// Throws UserError when stream `part` cannot be opened or does not match the manifest.
  SortedSource(const std::filesystem::path& folder, std::size_t part);

  [[nodiscard]] const StreamHeader& header() const override { return stream_->header(); }
  [[nodiscard]] const std::string& name() const override { return stream_->name(); }
  [[nodiscard]] InputFile input() const override { return stream_->input(); }
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override;
  [[nodiscard]] std::optional<Damage> tail_damage() const override;
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override { stream_->release_before(epoch); }
  [[nodiscard]] std::uint64_t hits_read() const override;
  [[nodiscard]] std::uint64_t hits_given() const override { return stream_->hits_given(); }
  [[nodiscard]] std::uint64_t anomalies() const override;

 private:
  SortedManifest manifest_;
  std::unique_ptr<EpochsSource> stream_;
  bool first_;
};

}  // namespace eventloom
