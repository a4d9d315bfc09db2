#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/recorded/clock_turns.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// The source behind another one of the same kind.
struct NextPart {
  std::string name;
  /// The first number of its counter; if `stated` is not set, its first time.
  std::function<std::optional<std::uint64_t>()> first;
  bool stated = true;  ///< the URI states how the counter turns
};

/// Reads a source whose counter turns, or may turn, and finds out whether the next source continues it: then the two
/// are parts of one recording and must be joined, as their times would lie on top of each other.
class PartsCheck final : public HitReader {
 public:
  PartsCheck(std::unique_ptr<HitReader> reader, NextPart next) : reader_(std::move(reader)), next_(std::move(next)) {}

  [[nodiscard]] const StreamHeader& header() const override { return reader_->header(); }
  [[nodiscard]] const std::string& name() const override { return reader_->name(); }
  [[nodiscard]] InputFile input() const override { return reader_->input(); }
  /// At the end, throws UserError if the next source continues this one; warns if that one might also be another
  /// detector, as it begins like this one, if it begins elsewhere, or if it is not stated that the counter turns.
  bool read(HitBlock& block) override;
  [[nodiscard]] Tick unordered_within() const override { return reader_->unordered_within(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return reader_->raw_clock(); }
  [[nodiscard]] std::optional<double> share_read() const override { return reader_->share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const override { return reader_->counts(); }

 private:
  void compare();
  void report_apart(std::uint64_t next_first, const ClockTurns::Extent& extent) const;
  void compare_unstated();

  std::unique_ptr<HitReader> reader_;
  NextPart next_;
  std::uint64_t hits_ = 0;
  std::optional<Tick> first_;
  Tick most_ = 0;
  bool compared_ = false;
};

}  // namespace eventloom
