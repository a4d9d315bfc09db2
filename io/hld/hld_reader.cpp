#include "io/hld/hld_reader.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hld/hld_counts.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/hld/hld_options.hpp"
#include "io/hld/hld_origin.hpp"
#include "io/hld/subevent_ids.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_sequence.hpp"
#include "io/recorded/kept_event.hpp"
#include "io/recorded/numbered_blocks.hpp"
#include "io/uri/optional_source.hpp"

namespace eventloom {

namespace {

class HldReader final : public HitReader, private NumberedBlocks::Events {
 public:
  HldReader(const SourceUri& uri, std::span<const std::string> paths, const HldOptions& options,
            std::unique_ptr<HldHitMaker> maker, const StreamHeader& header, Followed followed);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return files_.input(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return maker_->counter(); }
  [[nodiscard]] std::optional<double> share_read() const override { return files_.share_read(); }
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] SourceCounts counts() const override;

 private:
  bool next_event(HitBlock& block);
  void lose(const HldDamage& damage, HitBlock& block) const;

  [[nodiscard]] DefectLog& defect_log() { return files_.file().defect_log(); }
  bool judge(HitBlock& block);
  void keep(Tick number, HitBlock& block) override;
  void take_back(DropCause cause, HitBlock& block) override;
  void leave_out(DropCause cause, HitBlock& block) override;
  void lose_event(DropCause cause, HitBlock& block);

  std::string name_;
  FileSequence<HldFile> files_;
  HldOptions options_;
  std::unique_ptr<HldHitMaker> maker_;
  StreamHeader header_;
  std::uint64_t anomalies_ = 0;  ///< anomalies of the previous files
  SourceCounts counts_ = hld_counts();

  // Used only if times are event numbers.
  NumberedBlocks numbers_{options_.number, *this};
  KeptEvent kept_;
  SubeventIds kept_ids_;
  HitBlock held_;  ///< the last event before a pause: the next one may take it back
  bool pauses_ = false;
};

HldReader::HldReader(const SourceUri& uri, std::span<const std::string> paths, const HldOptions& options,
                     std::unique_ptr<HldHitMaker> maker, const StreamHeader& header, Followed followed)
    : name_(uri.path()),
      files_(paths, std::move(followed)),
      options_(options),
      maker_(std::move(maker)),
      header_(header) {}

bool HldReader::read(HitBlock& block) {
  block.clear();
  std::swap(block, held_);
  if (!std::exchange(pauses_, false)) kept_ids_.reset();
  numbers_.begin(block);
  const bool numbered = (header_.flags & kNumbered) != 0;
  while (next_event(block)) {
    if (numbered) {
      if (!judge(block)) return true;
    } else {
      maker_->append(files_.file().event(), 0, block, defect_log());
      if (is_full(block)) return true;
    }
  }
  if (pauses_) {
    if (numbered) held_ = kept_.hold_back(block);
    return true;
  }
  if (numbered) numbers_.finish(name_, block);
  defect_log().sum_up();
  return block.size() != 0 || !block.losses.empty();
}

/// Advances to the next data event and adds the losses before it to `block`. Returns false at the end, and where the
/// next event is not yet complete.
bool HldReader::next_event(HitBlock& block) {
  while (true) {
    switch (files_.file().next()) {
      case HldFile::Item::event:
        count(files_.file().event(), counts_);
        if (files_.file().event().begins_run() || files_.file().event().ends_run()) break;
        return true;
      case HldFile::Item::damage: lose(files_.file().damage(), block); break;
      case HldFile::Item::pause: pauses_ = true; return false;
      case HldFile::Item::end:
        if (files_.is_last()) return false;
        pauses_ = files_.awaits_next();
        if (pauses_) return false;
        anomalies_ += files_.file().anomalies();
        files_.open_next();
        break;
    }
  }
}

void HldReader::lose(const HldDamage& damage, HitBlock& block) const {
  const bool subevents_are_hits = header_.payload.words[0] == PayloadTable::kLengthInFirstWord;
  const bool rest = damage.extent == HldDamage::Extent::rest;
  add_loss(block, {.before = block.size(),
                   .offset = damage.offset,
                   .hits = subevents_are_hits ? damage.subevents : 0,
                   .cause = DropCause::corrupt,
                   .leaves_hole = !(rest && files_.is_last()),
                   .breaks_off = rest && files_.is_last()});
}

/// Converts the current event to hits if its number is accepted. Returns false when the block is full.
bool HldReader::judge(HitBlock& block) {
  const auto& event = files_.file().event();
  const auto number = options_.number_of(event);
  if (number) return numbers_.add(*number, numbers_.repeats(*number) && kept_ids_.begin(event), block);
  ++counts_.counters[Metric::untimed_events];
  lose_event(DropCause::untimed, block);
  defect_log().say(Defect::remark, event.offset,
                   [&] { return fmt::format("event {} is dropped: {}", event.number, options_.reason_for_none()); });
  return true;
}

void HldReader::keep(Tick number, HitBlock& block) {
  const auto& event = files_.file().event();
  kept_ = KeptEvent::at_end_of(block, files_.number(), event.offset, event.number);
  kept_ids_.remember(event);
  maker_->append(event, number, block, defect_log());
}

/// Drops the last kept event.
void HldReader::take_back(DropCause cause, HitBlock& block) {
  kept_.take_back(cause, block);
  kept_ids_.reset();
  report_left_out(defect_log(), kept_.offset, kept_.number, files_.other_than_open(kept_.file), cause);
}

/// Drops the current event.
void HldReader::leave_out(DropCause cause, HitBlock& block) {
  const auto& event = files_.file().event();
  lose_event(cause, block);
  report_left_out(defect_log(), event.offset, event.number, "", cause);
}

/// Counts the hits of the current event as lost.
void HldReader::lose_event(DropCause cause, HitBlock& block) {
  const auto& event = files_.file().event();
  const auto before = block.size();
  maker_->append(event, 0, block, defect_log());
  take_back_hits(block, before, block.losses.size(), {.offset = event.offset, .cause = cause});
}

std::uint64_t HldReader::anomalies() const { return anomalies_ + files_.file().anomalies() + maker_->anomalies(); }

SourceCounts HldReader::counts() const {
  auto counts = counts_;
  if ((header_.flags & kNumbered) != 0) counts.counters.add(numbers_.counters());
  counts.counters.add(maker_->counters());
  return counts;
}

std::string header_text(const SourceUri& uri, const HldHitMaker& maker, const HldOptions& options,
                        const std::string& path) {
  return uri.text() + "\n" + std::string(maker.rule()) +
         "Time: " + (options.clock ? "(epoch counter << 11 | coarse time) * 5 ns, in ticks" : options.number_text()) +
         ".\n" + hld_origin_text(find_hld_run(path));
}

}  // namespace

std::unique_ptr<HitReader> open_hld(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base, Followed followed) {
  const auto options = parse_hld_options(uri, base.tick_ps);
  if (paths.empty()) uri.refuse("no file");
  const bool by_clock = options.clock.has_value();
  const std::uint32_t flags =
      (by_clock ? 0U : kNumbered) | (options.tdcs ? 0U : kTriggerInPayload) | optional_flag(uri, !by_clock);
  auto maker = options.tdcs ? make_tdc_hits(*options.tdcs, options.clock) : make_subevent_hits();
  const StreamHeader header{id.value, base, maker->payload(), header_text(uri, *maker, options, paths.front()), flags};
  return std::make_unique<HldReader>(uri, paths, options, std::move(maker), header, std::move(followed));
}

}  // namespace eventloom
