#pragma once

#include <cstdint>
#include <memory>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Reads a source whose counter turns and finds out whether the next source continues it: then the two are parts of one
/// recording and must be joined, as their times would lie on top of each other.
class PartsCheck final : public HitReader {
 public:
  /// `next_first`: the first number of the next source.
  PartsCheck(std::unique_ptr<HitReader> reader, std::uint64_t next_first)
      : reader_(std::move(reader)), next_first_(next_first) {}

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  /// At the end, throws UserError if the next source continues this one; warns if that one might also be another
  /// detector, as it begins like this one.
  bool read(HitBlock& block) override;
  [[nodiscard]] Tick unordered_within() const override { return reader_->unordered_within(); }
  [[nodiscard]] std::optional<double> share_read() const override { return reader_->share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override { return reader_->counts(); }

 private:
  void compare();

  std::unique_ptr<HitReader> reader_;
  std::uint64_t next_first_;
  std::uint64_t hits_ = 0;
  bool compared_ = false;
};

}  // namespace eventloom
