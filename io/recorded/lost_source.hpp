#pragma once

#include <limits>
#include <string>
#include <utility>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// A source that exists but cannot be read: its stream consists only of damage. It keeps its number in the run and is
/// missing in every slice.
class LostSource final : public Source {
 public:
  LostSource(StreamHeader header, std::string name, InputFile input);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  std::optional<Epoch> first_epoch() override { return std::nullopt; }
  void collect(EpochRange, SliceData& out) override { out.damage.push_back(all_); }
  [[nodiscard]] std::optional<Epoch> end_epoch() const override { return 0; }
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return all_; }
  std::optional<Epoch> next_beginning(Epoch) override { return std::nullopt; }
  void release_before(Epoch) override {}
  [[nodiscard]] std::uint64_t hits_read() const override { return 0; }
  [[nodiscard]] std::uint64_t anomalies() const override { return 1; }

 private:
  StreamHeader header_;
  std::string name_;
  InputFile input_;
  Damage all_;
};

}  // namespace eventloom
