#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// The reader of the open one of several files that are one source. Adds up what the files before it counted, and hands
/// the turns of their counters on.
class FileChain {
 public:
  explicit FileChain(std::unique_ptr<HitReader> first) : reader_(std::move(first)), header_(reader_->header()) {}

  [[nodiscard]] HitReader& reader() { return *reader_; }
  [[nodiscard]] const HitReader& reader() const { return *reader_; }
  /// The header of the first file.
  [[nodiscard]] const StreamHeader& header() const { return header_; }
  /// Throws UserError if the hits of the file at `path` have other columns than those of the first one, or if its
  /// counter, whose turns continue from file to file, has another unit than that of the open one.
  void require_same_kind(HitReader& reader, const std::string& path) const;
  /// Continues with the file at `path`. Throws UserError likewise.
  void go_on(std::unique_ptr<HitReader> next, const std::string& path);
  /// Says of losses at the end of a file that another file follows them.
  static void leave_holes(HitBlock& block);
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_before_ + reader_->anomalies(); }
  [[nodiscard]] SourceCounts counts() const;

 private:
  std::unique_ptr<HitReader> reader_;
  StreamHeader header_;
  Counters counters_before_;  ///< counts of the files before the open one
  std::uint64_t anomalies_before_ = 0;
};

}  // namespace eventloom
