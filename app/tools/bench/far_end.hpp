#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/slice_builder.hpp"
#include "core/exchange/slice_assembler.hpp"

namespace eventloom {

/// Processes a message at the far end before it answers.
class FarEnd {
 public:
  FarEnd() = default;
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;
  virtual ~FarEnd() = default;
  virtual void take(std::span<const std::byte> message) = 0;
};

/// Does nothing.
class EchoingEnd final : public FarEnd {
 public:
  void take(std::span<const std::byte>) override {}
};

/// Returns an epoch buffer with one event of 8 hits, for a BuildingEnd.
std::vector<std::byte> small_epoch_buffer();

/// Acts as a builder: assembles the slice, decodes, sorts and defines events.
class BuildingEnd final : public FarEnd {
 public:
  BuildingEnd();
  /// Throws std::runtime_error if the message does not become an event.
  void take(std::span<const std::byte> message) override;

 private:
  SliceAssembler assembler_;
  SliceId next_{};  ///< numbers slices for the assembler; the epoch buffer always belongs to slice 0
  SliceBuilder builder_;
  std::vector<BuiltSlice> built_;
  std::vector<BuildProblem> problems_;
};

}  // namespace eventloom
