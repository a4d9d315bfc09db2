#include "io/lmd/lmd_reader.hpp"

#include <optional>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_hit_blocks.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/sources/file_checksum.hpp"

namespace eventloom {

namespace {

class LmdReader final : public HitReader {
 public:
  LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time, const StreamHeader& header);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_files(name_, paths_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::uint64_t anomalies() const override { return blocks_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  bool next_event(HitBlock& block);
  void take_problems(HitBlock& block);
  [[nodiscard]] bool is_last_file() const { return open_ + 1 == paths_.size(); }

  std::string name_;
  std::vector<std::string> paths_;
  StreamHeader header_;

  std::size_t open_ = 0;  ///< number of the file that is open
  std::optional<LmdFile> file_;
  LmdEvent event_;
  LmdCounts counts_;  ///< of the files before
  LmdHitBlocks blocks_;
};

LmdReader::LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time,
                     const StreamHeader& header)
    : name_(uri.path()), paths_(paths.begin(), paths.end()), header_(header), blocks_(name_, time, header.base) {
  for (std::size_t i = paths_.size(); i > 0; --i) file_.emplace(paths_[i - 1]);  // what cannot be opened is told now
  blocks_.open(paths_.front());
}

bool LmdReader::read(HitBlock& block) {
  blocks_.begin(block);
  while (next_event(block)) {
    if (!blocks_.add(event_, block)) return true;
  }
  blocks_.finish(block);
  return block.size() != 0 || !block.losses.empty();
}

/// Goes on to the next event; what was found on the way goes to `block`. False at the end.
bool LmdReader::next_event(HitBlock& block) {
  while (true) {
    const bool there = file_->next(event_);
    if (!file_->problems().empty()) take_problems(block);
    if (there) return true;
    blocks_.close();
    if (is_last_file()) return false;
    counts_ += file_->counts();
    file_.emplace(paths_[++open_]);
    blocks_.open(paths_[open_]);
  }
}

void LmdReader::take_problems(HitBlock& block) {
  for (const auto& problem : file_->problems()) blocks_.add(problem, DropCause::corrupt, is_last_file(), block);
}

SourceCounts LmdReader::counts() const {
  LmdCounts all = counts_;
  all += file_->counts();
  return blocks_.counts(all);
}

}  // namespace

std::unique_ptr<HitReader> open_lmd(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base) {
  uri.accept_only({"time", "wr", "from", "unit", "round", "reorder", "concat"});
  if (paths.empty()) throw UserError("source '" + uri.text() + "': no file");
  const LmdTime time(uri, base.tick_ps);
  return std::make_unique<LmdReader>(uri, paths, time, lmd_stream_header(uri, id, base, time));
}

}  // namespace eventloom
