#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/file_blocks.hpp"
#include "io/epochs/mapped_file.hpp"
#include "io/epochs/stream_scan.hpp"
#include "io/files/defect_log.hpp"

namespace eventloom {

enum class IndexState {
  good,
  missing,  ///< the recording was not closed, because of a crash or because it is still being written
  damaged,
};

/// Replays an `.epochs` file. With an index, memory use does not depend on the size of the file, only on what has been
/// collected and not released; without one, it is 32 bytes per epoch buffer more.
class EpochsSource final : public Source {
 public:
  /// Throws UserError when the file cannot be opened or does not begin like an .epochs file.
  explicit EpochsSource(const std::string& path);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return path_; }
  [[nodiscard]] InputFile input() const override;
  std::optional<Epoch> first_epoch() override;
  void collect(EpochRange epochs, SliceData& out) override;
  [[nodiscard]] std::optional<Epoch> end_epoch() const override { return end_epoch_; }
  [[nodiscard]] std::optional<Damage> tail_damage() const override { return tail_damage_; }
  std::optional<Epoch> next_beginning(Epoch from) override;
  void release_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t hits_read() const override { return hits_; }
  [[nodiscard]] std::uint64_t hits_given() const override { return std::min(given_hits_, hits_); }
  [[nodiscard]] std::uint64_t anomalies() const override { return anomalies_; }
  [[nodiscard]] SourceCounts counts() const override { return counts_; }

  [[nodiscard]] IndexState index_state() const { return index_state_; }
  [[nodiscard]] std::size_t buffers() const { return entries_.size(); }
  /// Defects of the file found so far, as text. Defects in the words of a buffer are found when it is decoded.
  [[nodiscard]] const std::vector<StreamProblem>& problems() const { return problems_; }

 private:
  bool use_index();
  void scan();
  void count_unknown();
  [[nodiscard]] std::size_t first_entry_ending_after(Epoch epoch) const;
  bool check(const IndexEntry& entry, const std::optional<EpochBufferHeader>& header, SliceData& out);
  [[nodiscard]] bool lost() const { return file_.lost() || blocks_.lost(); }
  std::optional<EpochBufferHeader> collect_buffers(EpochRange epochs, SliceData& out);
  std::optional<EpochBufferHeader> collect_adjacent(std::span<const IndexEntry> entries, SliceData& out);
  void note_given(const EpochBufferHeader& last);
  void give_up(EpochRange epochs);
  void report(std::uint64_t offset, const std::string& text);
  void count_lost(const Damage& damage) { counts_.counters[source_dropped_hits(damage.cause)] += damage.n_hits; }

  std::string path_;
  MappedFile file_;    ///< holds the index; searched if there is none
  FileBlocks blocks_;  ///< the epoch buffers
  StreamHeader header_;
  std::uint64_t first_buffer_ = 0;
  IndexState index_state_ = IndexState::good;
  std::span<const IndexEntry> entries_;  ///< points into the map, or to scanned_
  std::vector<IndexEntry> scanned_;
  std::vector<Damage> damage_;  ///< damage not found by check(), by ascending first epoch
  std::size_t over_ = 0;        ///< number of elements of damage_ released
  std::optional<Damage> tail_damage_;
  Epoch first_epoch_ = 0;
  Epoch end_epoch_ = 0;
  std::uint64_t hits_ = 0;
  Epoch given_end_ = 0;           ///< end of the buffers delivered
  std::uint64_t given_hits_ = 0;  ///< hits of the stream up to given_end_
  bool gave_up_ = false;          ///< the file has become unreadable
  std::uint64_t anomalies_ = 0;
  std::vector<StreamProblem> problems_;
  DefectLog defect_log_{path_};
  SourceCounts counts_;               ///< hits dropped
  std::set<std::uint64_t> reported_;  ///< offsets of the damaged buffers reported
};

}  // namespace eventloom
