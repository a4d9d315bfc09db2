#include "io/lmd/lmd_reader.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_hits.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/sources/block_losses.hpp"
#include "io/sources/complaints.hpp"
#include "io/sources/event_numbers.hpp"
#include "io/sources/file_checksum.hpp"
#include "io/sources/time_steps.hpp"

namespace eventloom {

namespace {

/// A block with so much is full: with the window of the file it stays in the L2 cache.
constexpr std::size_t kBlockHits = 8192;
constexpr std::size_t kBlockWords = 32768;
constexpr std::size_t kBlockLosses = 4096;
/// The longest pause in time stamps that one event alone can claim: an hour.
constexpr std::uint64_t kLongestPausePs = 3600 * std::uint64_t{1'000'000'000'000};

bool is_full(const HitBlock& block) {
  return block.size() >= kBlockHits || block.payload.size() >= kBlockWords || block.losses.size() >= kBlockLosses;
}

/// The event that was kept last.
struct KeptEvent {
  std::size_t first_hit = 0;  ///< in the block
  std::size_t losses = 0;     ///< of the block, before it
  std::size_t file = 0;       ///< its number
  std::uint64_t offset = 0;
  std::uint32_t number = 0;
};

class LmdReader final : public HitReader {
 public:
  LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time, const StreamHeader& header);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_files(name_, paths_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::uint64_t anomalies() const override { return anomalies_; }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  void open(std::size_t number);
  bool next_event(HitBlock& block);
  void take_problems(HitBlock& block);

  bool judge(HitBlock& block);
  [[nodiscard]] bool completes_kept(const HitBlock& block) const;
  void keep(Tick tick, HitBlock& block);
  void take_back(DropCause cause, HitBlock& block);
  void leave_out(DropCause cause, HitBlock& block);

  void warn_of_folded();

  std::string name_;
  std::vector<std::string> paths_;
  LmdTime time_;
  StreamHeader header_;

  std::size_t open_ = 0;  ///< number of the file that is open
  std::optional<LmdFile> file_;
  std::optional<Complaints> complaints_;  ///< of that file
  LmdEvent event_;
  LmdHitMaker hits_;
  bool folded_told_ = false;

  LmdCounts counts_;  ///< of the files before
  LmdTriggers triggers_;
  std::uint64_t anomalies_ = 0;
  std::uint64_t untimed_ = 0;

  EventNumbers numbers_;  ///< where times are event numbers
  TimeSteps steps_;       ///< where they are stamps
  KeptEvent kept_;
  std::optional<Tick> waiting_;  ///< tick of event_, which opens the next block
};

LmdReader::LmdReader(const SourceUri& uri, std::span<const std::string> paths, const LmdTime& time,
                     const StreamHeader& header)
    : name_(uri.path()),
      paths_(paths.begin(), paths.end()),
      time_(time),
      header_(header),
      steps_(kLongestPausePs / header.base.tick_ps) {
  for (std::size_t i = paths_.size(); i > 0; --i) open(i - 1);  // what cannot be opened is told now
}

void LmdReader::open(std::size_t number) {
  open_ = number;
  file_.emplace(paths_[number]);
  complaints_.emplace(paths_[number]);
}

bool LmdReader::read(HitBlock& block) {
  block.clear();
  if (waiting_) keep(*std::exchange(waiting_, std::nullopt), block);
  bool goes_on = true;
  bool there = true;
  while (goes_on && (there = next_event(block))) goes_on = judge(block);
  if (!there) {
    if (const auto cause = time_.numbered() ? numbers_.finish() : steps_.finish()) take_back(*cause, block);
  }
  if (hits_.folded() > 0 && !folded_told_) warn_of_folded();
  return block.size() != 0 || !block.losses.empty();
}

/// Goes on to the next event; what was found on the way goes to `block`. False at the end.
bool LmdReader::next_event(HitBlock& block) {
  while (true) {
    const bool there = file_->next(event_);
    if (!file_->problems().empty()) take_problems(block);
    if (there) {
      triggers_.add(event_.trigger);
      return true;
    }
    complaints_->sum_up();
    if (open_ + 1 == paths_.size()) return false;
    counts_ += file_->counts();
    open(open_ + 1);
  }
}

void LmdReader::take_problems(HitBlock& block) {
  const bool last_file = open_ + 1 == paths_.size();
  for (const auto& problem : file_->problems()) {
    complaints_->say(Defect::damage, problem.offset, [&] { return problem.text; });
    if (problem.effect == LmdEffect::none) {
      ++anomalies_;
      continue;
    }
    const bool breaks_off = problem.effect == LmdEffect::breaks_off;
    add_loss(block, {.before = block.size(),
                     .offset = problem.offset,
                     .hits = problem.hits,
                     .cause = DropCause::corrupt,
                     .leaves_hole = problem.effect == LmdEffect::hole || (breaks_off && !last_file),
                     .breaks_off = breaks_off && last_file});
  }
}

/// Whether the last event kept is an unfinished copy of the one at hand.
bool LmdReader::completes_kept(const HitBlock& block) const {
  return numbers_.repeats(event_.number) && lmd_hits_begin(block, kept_.first_hit, event_);
}

/// The event behind an event may tell that it must go. So a block ends only where another event has been kept,
/// which then waits for the next block: false.
bool LmdReader::judge(HitBlock& block) {
  EventNumbers::Judgement judgement;
  if (time_.numbered()) {
    judgement = numbers_.judge(event_.number, completes_kept(block));
  } else if (const auto tick = time_.of(event_)) {
    judgement = steps_.judge(*tick);
  } else {
    ++untimed_;
    judgement.current = DropCause::untimed;
  }
  if (judgement.previous) take_back(*judgement.previous, block);
  if (judgement.current) {
    leave_out(*judgement.current, block);
    return true;
  }
  if (is_full(block)) {
    waiting_ = judgement.tick;
    return false;
  }
  keep(judgement.tick, block);
  return true;
}

void LmdReader::keep(Tick tick, HitBlock& block) {
  kept_ = {.first_hit = block.size(),
           .losses = block.losses.size(),
           .file = open_,
           .offset = event_.offset,
           .number = event_.number};
  hits_.append(event_, tick, block);
}

/// The event that was kept last must go.
void LmdReader::take_back(DropCause cause, HitBlock& block) {
  take_back_hits(block, kept_.first_hit, kept_.losses, {.offset = kept_.offset, .cause = cause});
  complaints_->say(Defect::number, kept_.offset, [&] {
    const auto place = kept_.file == open_ ? "" : " of " + paths_[kept_.file];
    return fmt::format("event {}{} is left out: {}", kept_.number, place,
                       kDropCauseNames[static_cast<std::size_t>(cause)]);
  });
}

/// The event at hand must go.
void LmdReader::leave_out(DropCause cause, HitBlock& block) {
  add_loss(block, {.before = block.size(),
                   .offset = event_.offset,
                   .hits = static_cast<std::uint32_t>(event_.items()),
                   .cause = cause});
  const bool untimed = cause == DropCause::untimed;
  complaints_->say(untimed ? Defect::remark : Defect::number, event_.offset, [&] {
    const auto why = untimed ? time_.description() + " is not there or no time in ticks"
                             : std::string(kDropCauseNames[static_cast<std::size_t>(cause)]);
    return fmt::format("event {} is left out: {}", event_.number, why);
  });
}

void LmdReader::warn_of_folded() {
  folded_told_ = true;
  spdlog::warn("{}: control or crate of a subevent is above 63: the channel does not tell it alone, see its payload",
               name_);
}

SourceCounts LmdReader::counts() const {
  SourceCounts counts;
  if (time_.numbered()) counts = numbers_.counts();
  LmdCounts all = counts_;
  all += file_->counts();
  counts["events"] = all.events;
  counts["subevents"] = all.subevents;
  counts["empty_events"] = all.empty_events;
  counts["skipped_elements"] = all.skipped_elements;
  counts["folded_ids"] = hits_.folded();
  if (!time_.numbered()) {
    counts["untimed_events"] = untimed_;
    counts["out_of_step"] = steps_.out_of_step();
  }
  if (all.buffers != 0) {
    counts["buffers"] = all.buffers;
    counts["buffers_continued"] = all.buffers_continued;
    counts["missing_buffers"] = all.missing_buffers;
    counts["skipped_fragments"] = all.skipped_fragments;
  }
  triggers_.add_to(counts);
  return counts;
}

}  // namespace

std::unique_ptr<HitReader> open_lmd(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base) {
  uri.accept_only({"time", "wr", "from", "unit", "round", "reorder", "concat"});
  if (paths.empty()) throw UserError("source '" + uri.text() + "': no file");
  const LmdTime time(uri, base.tick_ps);
  const StreamHeader header{
      .source = id.value,
      .base = base,
      .payload = PayloadTable::uniform(PayloadTable::kLengthInFirstWord),
      .text = uri.text() + "\n" + std::string(lmd_hit_rule()) + "Time: " + time.description() + ".\n",
      .flags = kTriggerInPayload | (time.numbered() ? std::uint32_t{kNumbered} : 0U)};
  return std::make_unique<LmdReader>(uri, paths, time, header);
}

}  // namespace eventloom
