#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/marker_counts.hpp"

namespace eventloom {

struct RecordedHit {
  Tick time = 0;
  std::uint32_t channel = 0;
  std::vector<std::uint32_t> payload;
};

/// Contents of an `.epochs` file. Every checksum has been verified and every word read.
struct EpochsReport {
  StreamHeader header;
  std::uint64_t file_bytes = 0;
  std::string index;  ///< "whole", "missing" or "damaged"
  std::uint64_t buffers = 0;
  std::uint64_t hits = 0;
  std::uint64_t payload_words = 0;
  std::uint64_t words = 0;
  MarkerCounts others;
  Tick first_tick = 0;  ///< time of the first hit; 0 if there are none
  Tick last_tick = 0;
  EpochRange epochs;       ///< epochs from the first buffer to the last
  std::uint64_t gaps = 0;  ///< number of stretches of these that no buffer covers
  Epoch epochs_in_gaps = 0;
  std::uint64_t anomalies = 0;        ///< see Source::anomalies
  std::vector<Damage> damage;         ///< unusable stretches
  std::vector<std::string> problems;  ///< defects of the file and its buffers
  std::vector<RecordedHit> first_hits;

  [[nodiscard]] bool damaged() const {
    return index == "damaged" || anomalies > 0 || !damage.empty() || !problems.empty();
  }
};

/// Reads the whole file; the report includes its first `n_hits` hits. Throws UserError when the file cannot be opened
/// or has no readable header.
EpochsReport read_epochs_report(const std::string& path, std::uint64_t n_hits);

}  // namespace eventloom
