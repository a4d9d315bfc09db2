#include "io/lmd/lmd_reader.hpp"

#include <optional>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_hit_blocks.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/recorded/file_sequence.hpp"

namespace eventloom {

namespace {

class LmdReader final : public HitReader {
 public:
  LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time, const StreamHeader& header,
            Followed followed);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return files_.input(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return blocks_.counter(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return blocks_.raw_clock(); }
  [[nodiscard]] std::optional<double> share_read() const override { return files_.share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return blocks_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  bool next_event(HitBlock& block);
  void take_problems(HitBlock& block);

  std::string name_;
  FileSequence<LmdFile> files_;
  StreamHeader header_;
  LmdEvent event_;
  Counters counters_;  ///< counts of the previous files
  LmdHitBlocks blocks_;
  bool pauses_ = false;
};

LmdReader::LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time,
                     const StreamHeader& header, Followed followed)
    : name_(uri.path()), files_(paths, std::move(followed)), header_(header), blocks_(name_, time, header.base) {
  blocks_.open(paths.front());
}

bool LmdReader::read(HitBlock& block) {
  blocks_.begin(block);
  pauses_ = false;
  while (next_event(block)) {
    if (!blocks_.add(event_, block)) return true;
  }
  if (pauses_) {
    blocks_.hold_back(block);
    return true;
  }
  blocks_.finish(block);
  return block.size() != 0 || !block.losses.empty();
}

/// Advances to the next event and adds the problems before it to `block`. Returns false at the end, and where the
/// next event is not yet complete.
bool LmdReader::next_event(HitBlock& block) {
  while (true) {
    const bool there = files_.file().next(event_);
    if (!files_.file().problems().empty()) take_problems(block);
    if (there) return true;
    const bool ended = !files_.file().pauses();
    if (ended && files_.is_last()) {
      blocks_.close();
      return false;
    }
    pauses_ = !ended || files_.awaits_next();
    if (pauses_) return false;
    blocks_.close();
    counters_.add(files_.file().counters());
    files_.open_next();
    blocks_.open(files_.path(files_.number()));
  }
}

void LmdReader::take_problems(HitBlock& block) {
  for (const auto& problem : files_.file().problems()) {
    blocks_.add(problem, DropCause::corrupt, files_.is_last(), block);
  }
}

SourceCounts LmdReader::counts() const {
  auto all = counters_;
  all.add(files_.file().counters());
  return blocks_.counts(all);
}

}  // namespace

std::unique_ptr<HitReader> open_lmd(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base, Followed followed) {
  if (paths.empty()) uri.refuse("no file");
  const LmdTime time(uri, base.tick_ps);
  return std::make_unique<LmdReader>(uri, paths, time, lmd_stream_header(uri, id, base, time), std::move(followed));
}

}  // namespace eventloom
