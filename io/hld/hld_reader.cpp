#include "io/hld/hld_reader.hpp"

#include <spdlog/fmt/fmt.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hld/hld_counts.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/hld/hld_options.hpp"
#include "io/hld/subevent_ids.hpp"
#include "io/sources/block_losses.hpp"
#include "io/sources/event_numbers.hpp"
#include "io/sources/file_checksum.hpp"

namespace eventloom {

namespace {

/// A block with so much is full: it stays in the L2 cache.
constexpr std::size_t kBlockHits = 8192;
constexpr std::size_t kBlockWords = 32768;

bool is_full(const HitBlock& block) { return block.size() >= kBlockHits || block.payload.size() >= kBlockWords; }

/// The event that was kept last.
struct KeptEvent {
  std::size_t first_hit = 0;  ///< in the block
  std::size_t losses = 0;     ///< of the block, before it
  std::size_t file = 0;       ///< number of its file, from 1
  std::uint64_t offset = 0;
  std::uint32_t number = 0;
};

class HldReader final : public HitReader {
 public:
  HldReader(const SourceUri& uri, std::span<const std::string> paths, std::unique_ptr<HldHitMaker> maker,
            const StreamHeader& header);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_files(name_, paths_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] SourceCounts counts() const override;

 private:
  bool next_event(HitBlock& block);
  void lose(const HldDamage& damage, HitBlock& block) const;

  bool judge(HitBlock& block);
  void keep(Tick number, HitBlock& block);
  void take_back(DropCause cause, HitBlock& block);
  void leave_out(DropCause cause, HitBlock& block);
  void complain(std::size_t file, std::uint64_t offset, std::uint32_t number, DropCause cause);

  std::string name_;
  std::vector<std::string> paths_;
  std::size_t opened_ = 1;  ///< of paths_
  std::unique_ptr<HldHitMaker> maker_;
  StreamHeader header_;
  std::optional<HldFile> file_;
  std::uint64_t anomalies_ = 0;  ///< of the files before
  HldCounts counts_;

  // Where times are event numbers:
  EventNumbers numbers_;
  KeptEvent kept_;
  SubeventIds kept_ids_;
  std::optional<Tick> waiting_;  ///< number of the file's event, which opens the next block
};

HldReader::HldReader(const SourceUri& uri, std::span<const std::string> paths, std::unique_ptr<HldHitMaker> maker,
                     const StreamHeader& header)
    : name_(uri.path()), paths_(paths.begin(), paths.end()), maker_(std::move(maker)), header_(header) {
  // All of them, the first one last: a file that is none shows before anything is read.
  for (std::size_t i = paths_.size(); i-- > 0;) file_.emplace(paths_[i]);
}

bool HldReader::read(HitBlock& block) {
  block.clear();
  kept_ids_.forget();
  if (waiting_) keep(*std::exchange(waiting_, std::nullopt), block);
  const bool numbered = (header_.flags & kNumbered) != 0;
  while (next_event(block)) {
    if (numbered) {
      if (!judge(block)) return true;
    } else {
      maker_->append(file_->event(), 0, block, file_->complaints());
      if (is_full(block)) return true;
    }
  }
  if (numbered) {
    if (const auto cause = numbers_.finish()) take_back(*cause, block);
  }
  file_->complaints().sum_up();
  return block.size() != 0 || !block.losses.empty();
}

/// Goes on to the next event with data; what was lost on the way goes to `block`. False at the end.
bool HldReader::next_event(HitBlock& block) {
  while (true) {
    switch (file_->next()) {
      case HldFile::Item::event:
        counts_.add(file_->event());
        if (file_->event().begins_run() || file_->event().ends_run()) break;
        return true;
      case HldFile::Item::damage: lose(file_->damage(), block); break;
      case HldFile::Item::end:
        if (opened_ == paths_.size()) return false;
        anomalies_ += file_->anomalies();
        file_.emplace(paths_[opened_++]);
    }
  }
}

void HldReader::lose(const HldDamage& damage, HitBlock& block) const {
  const bool subevents_are_hits = header_.payload.words[0] == PayloadTable::kLengthInFirstWord;
  const bool rest = damage.extent == HldDamage::Extent::rest;
  const bool last_file = opened_ == paths_.size();
  add_loss(block, {.before = block.size(),
                   .offset = damage.offset,
                   .hits = subevents_are_hits ? damage.subevents : 0,
                   .cause = DropCause::corrupt,
                   .leaves_hole = !(rest && last_file),
                   .breaks_off = rest && last_file});
}

/// Makes hits of the file's event if its number is to be believed. False when the block is full and the event has
/// to wait: nothing in the block will be taken back.
bool HldReader::judge(HitBlock& block) {
  const auto& event = file_->event();
  const bool completes = numbers_.repeats(event.number) && kept_ids_.begin(event);
  const auto judgement = numbers_.judge(event.number, completes);
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

void HldReader::keep(Tick number, HitBlock& block) {
  const auto& event = file_->event();
  kept_.first_hit = block.size();
  kept_.losses = block.losses.size();
  kept_.file = opened_;
  kept_.offset = event.offset;
  kept_.number = event.number;
  kept_ids_.remember(event);
  maker_->append(event, number, block, file_->complaints());
}

/// The event that was kept last must go.
void HldReader::take_back(DropCause cause, HitBlock& block) {
  take_back_hits(block, kept_.first_hit, kept_.losses, {.offset = kept_.offset, .cause = cause});
  kept_ids_.forget();
  complain(kept_.file, kept_.offset, kept_.number, cause);
}

/// The file's event must go.
void HldReader::leave_out(DropCause cause, HitBlock& block) {
  const auto& event = file_->event();
  const auto before = block.size();
  maker_->append(event, 0, block, file_->complaints());
  take_back_hits(block, before, block.losses.size(), {.offset = event.offset, .cause = cause});
  complain(opened_, event.offset, event.number, cause);
}

void HldReader::complain(std::size_t file, std::uint64_t offset, std::uint32_t number, DropCause cause) {
  file_->complaints().say(Defect::number, offset, [this, file, number, cause] {
    const auto place = file == opened_ ? "" : fmt::format(" of {}", paths_[file - 1]);
    return fmt::format("event {}{} is left out: {}", number, place, kDropCauseNames[static_cast<std::size_t>(cause)]);
  });
}

std::uint64_t HldReader::anomalies() const { return anomalies_ + file_->anomalies() + maker_->anomalies(); }

SourceCounts HldReader::counts() const {
  SourceCounts counts;
  if ((header_.flags & kNumbered) != 0) counts = numbers_.counts();
  counts_.add_to(counts);
  maker_->add_counts(counts);
  return counts;
}

std::string header_text(const SourceUri& uri, const HldHitMaker& maker, bool by_clock) {
  return uri.text() + "\n" + std::string(maker.rule()) +
         (by_clock ? "Time: (epoch counter << 11 | coarse time) * 5 ns, in ticks.\n" : "Time: the event number.\n");
}

}  // namespace

std::unique_ptr<HitReader> open_hld(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base) {
  auto options = parse_hld_options(uri, base.tick_ps);
  if (paths.empty()) throw UserError("source '" + uri.text() + "': no file");
  const bool by_clock = options.clock.has_value();
  const std::uint32_t flags = (by_clock ? 0U : kNumbered) | (options.tdcs ? 0U : kTriggerInPayload);
  auto maker = options.tdcs ? make_tdc_hits(std::move(*options.tdcs), options.clock) : make_subevent_hits();
  const StreamHeader header{id.value, base, maker->payload(), header_text(uri, *maker, by_clock), flags};
  return std::make_unique<HldReader>(uri, paths, std::move(maker), header);
}

}  // namespace eventloom
