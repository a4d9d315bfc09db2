#pragma once

#include <functional>
#include <string>
#include <utility>

#include "core/dataflow/source.hpp"
#include "core/simulation/sparse_memory.hpp"

namespace eventloom {

/// A source whose data exist only as lengths: one message per slice; a slice is one epoch.
class LengthSource final : public Source {
 public:
  struct Settings {
    Epoch end = 0;  ///< one past the last epoch
    /// Bytes of an epoch's message, at most the size of the memory.
    std::function<std::uint64_t(Epoch)> length;
    /// Takes the time that the source needs to produce this many bytes.
    std::function<void(std::uint64_t bytes)> make;
  };
  /// Messages are spans of `memory`.
  LengthSource(const SparseMemory& memory, Settings settings) : memory_(memory), settings_(std::move(settings)) {}

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  std::optional<Epoch> first_epoch() override { return Epoch(0); }
  void collect(EpochRange epochs, SliceData& out) override {
    if (epochs.begin >= settings_.end) return;
    const auto bytes = settings_.length(epochs.begin);
    settings_.make(bytes);
    out.pieces.emplace_back(memory_.bytes().first(bytes));
  }
  [[nodiscard]] std::optional<Epoch> end_epoch() const override { return settings_.end; }
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return std::nullopt; }
  void release_before(Epoch) override {}
  [[nodiscard]] std::uint64_t hits_read() const override { return 0; }
  [[nodiscard]] std::uint64_t anomalies() const override { return 0; }

 private:
  const SparseMemory& memory_;
  Settings settings_;
  StreamHeader header_;
  std::string name_ = "simulated";
};

}  // namespace eventloom
