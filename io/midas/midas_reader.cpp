#include "io/midas/midas_reader.hpp"

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "io/midas/midas_file.hpp"
#include "io/midas/midas_records.hpp"
#include "io/midas/midas_time.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/file_sequence.hpp"
#include "io/recorded/inspect_hits.hpp"
#include "io/recorded/kept_event.hpp"
#include "io/recorded/numbered_blocks.hpp"
#include "io/uri/optional_source.hpp"

namespace eventloom {

namespace {

constexpr const char* kMidasRule =
    "MIDAS data, a hit per bank.\n"
    "Channel: the four characters of the bank's name as digits to base 37, A to Z 0 to 25, 0 to 9 26 to 35, others "
    "36.\n"
    "Payload, 32-bit words: number of words that follow; trigger mask << 16 | event id; serial number; Unix time, s;\n"
    "name (first character in the lowest byte); type; bytes of data; data (a last word filled up with zero bytes).\n"
    "An event without banks: channel 0x0fffffff; payload 3, trigger mask << 16 | event id, serial number, Unix time.\n";
constexpr std::uint32_t kNoBank = 0x0fffffff;
constexpr std::uint32_t kEventWords = 4;  ///< payload words per event, with the length
constexpr std::uint32_t kBankWords = 7;

/// Appends the hits of an event, with the payload that kMidasRule describes.
void append_hits(const MidasEvent& event, Tick time, HitBlock& block) {
  const auto begin_hit = [&](std::uint32_t channel, std::uint32_t words) {
    const auto& header = event.header;
    block.time.push_back(time);
    block.channel.push_back(channel);
    block.payload_begin.push_back(static_cast<std::uint32_t>(block.payload.size()));
    const auto what = std::uint32_t{header.mask} << 16 | header.id;
    block.payload.insert(block.payload.end(), {words - 1, what, header.serial, header.seconds});
  };
  if (event.banks.empty()) begin_hit(kNoBank, kEventWords);
  for (const auto& bank : event.banks) {
    const auto bytes = static_cast<std::uint32_t>(bank.data.size());
    const auto words = (bytes + 3) / 4;
    begin_hit(midas_channel(bank.name), kBankWords + words);
    block.payload.insert(block.payload.end(), {bank.name, bank.type, bytes});
    block.payload.resize(block.payload.size() + words, 0);
    if (bytes != 0) std::memcpy(block.payload.data() + block.payload.size() - words, bank.data.data(), bytes);
  }
}

class MidasReader final : public HitReader, private NumberedBlocks::Events {
 public:
  MidasReader(const SourceUri& uri, std::span<const std::string> paths, SourceId id, const TimeBase& base,
              Followed followed = nullptr);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return files_.input(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override {
    return time_.in_records() ? records_->counter() : time_.turns().if_any();
  }
  [[nodiscard]] std::optional<double> share_read() const override { return files_.share_read(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override {
    return time_.in_records() ? records_->raw_clock() : time_.raw_clock();
  }
  [[nodiscard]] SourceCounts counts() const override;

  /// Number of events read so far, by id.
  [[nodiscard]] std::map<std::uint16_t, std::uint64_t> ids() const;

 private:
  bool next_event(HitBlock& block);
  void report_skipped();
  [[nodiscard]] std::uint64_t skipped() const;
  void lose(const MidasDamage& damage, HitBlock& block) const;
  bool take(HitBlock& block);
  bool take_numbered(HitBlock& block);
  void append(Tick time, HitBlock& block);
  [[nodiscard]] std::size_t hits_in_event();
  void lose_event(DropCause cause, HitBlock& block);
  void keep(Tick number, HitBlock& block) override;
  void take_back(DropCause cause, HitBlock& block) override;
  void leave_out(DropCause cause, HitBlock& block) override;

  [[nodiscard]] DefectLog& defect_log() { return files_.file().defect_log(); }
  [[nodiscard]] const MidasEvent& event() { return files_.file().event(); }

  std::string name_;
  MidasTime time_;
  std::optional<MidasRecords> records_;  ///< std::nullopt: a hit per bank
  std::optional<std::uint16_t> id_;      ///< id of the events that are read
  bool id_given_ = false;                ///< the user gave the id
  bool reported_ = false;                ///< skipped events have been reported
  FileSequence<MidasFile> files_;
  StreamHeader header_;
  std::map<std::uint16_t, std::uint64_t> ids_;  ///< counts of the files before the open one
  Counters counters_{Metric::source_events, Metric::subevents,      Metric::empty_events, Metric::skipped_elements,
                     Metric::run_events,    Metric::untimed_events, Metric::folded_ids,   Metric::bad_records};
  NumberedBlocks numbers_{time_.number_place(), *this};
  KeptEvent kept_;
  HitBlock held_;  ///< the last event before a pause: the next one may take it back
  bool pauses_ = false;
};

MidasReader::MidasReader(const SourceUri& uri, std::span<const std::string> paths, SourceId id, const TimeBase& base,
                         Followed followed)
    : name_(uri.path()),
      time_(uri, base.tick_ps),
      records_(MidasRecords::of(uri, base.tick_ps)),
      files_(paths, std::move(followed)) {
  id_given_ = uri.has("event");
  if (id_given_) {
    id_ = static_cast<std::uint16_t>(uri.get_count("event", 1, 0, MidasHeader::kBeginOfRun - 1));
  }
  header_ = {.source = id.value,
             .base = base,
             .payload = PayloadTable::uniform(PayloadTable::kLengthInFirstWord),
             .text = uri.text() + "\n" + (records_ ? records_->description() : kMidasRule) +
                     "Time: " + time_.description() + ".\n",
             .flags = (time_.numbered() ? std::uint32_t{kNumbered} : 0U) | optional_flag(uri, time_.numbered())};
  if (records_) set_payload(header_, records_->format().columns);
}

bool MidasReader::read(HitBlock& block) {
  block.clear();
  std::swap(block, held_);
  pauses_ = false;
  numbers_.begin(block);
  while (next_event(block)) {
    if (!take(block)) return true;
  }
  if (pauses_) {
    if (time_.numbered()) held_ = kept_.hold_back(block);
    return true;
  }
  numbers_.finish(name_, block);
  defect_log().sum_up();
  if (records_) records_->sum_up();
  report_skipped();
  return block.size() != 0 || !block.losses.empty();
}

/// Advances to the next event of the id, and adds losses in between to `block`. Returns false at the end, and while the
/// next event is incomplete.
bool MidasReader::next_event(HitBlock& block) {
  while (true) {
    switch (files_.file().next(id_)) {
      case MidasFile::Item::damage: lose(files_.file().damage(), block); break;
      case MidasFile::Item::pause: pauses_ = true; return false;
      case MidasFile::Item::event:
        if (!id_) id_ = event().header.id;
        return true;
      case MidasFile::Item::end:
        if (files_.is_last()) return false;
        pauses_ = files_.awaits_next();
        if (pauses_) return false;
        defect_log().sum_up();
        counters_.add(files_.file().counters());
        ids_ = ids();
        files_.open_next();
        break;
    }
  }
}

std::map<std::uint16_t, std::uint64_t> MidasReader::ids() const {
  auto all = ids_;
  for (const auto& [id, n] : files_.file().ids()) all[id] += n;
  return all;
}

std::uint64_t MidasReader::skipped() const {
  std::uint64_t events = 0;
  for (const auto& [id, n] : ids()) events += id == id_ ? 0 : n;
  return events;
}

/// Reports events of other ids once, at the end; as a warning if the user did not give the id.
void MidasReader::report_skipped() {
  if (skipped() == 0 || std::exchange(reported_, true)) return;
  std::string list;
  for (const auto& [id, n] : ids()) {
    if (id != id_) list += fmt::format("{}id {} ({})", list.empty() ? "" : ", ", id, n);
  }
  const auto level = id_given_ ? log::Level::info : log::Level::warn;
  log::write(level, "{}: of its events, those of id {} are read; skipped: {}; event=ID reads others", name_,
             id_ ? std::to_string(*id_) : "none", list);
}

void MidasReader::lose(const MidasDamage& damage, HitBlock& block) const {
  add_loss(block, {.before = block.size(),
                   .offset = damage.offset,
                   .hits = damage.banks,
                   .cause = DropCause::corrupt,
                   .leaves_hole = damage.hole || (damage.rest && !files_.is_last()),
                   .breaks_off = damage.rest && files_.is_last()});
}

/// Returns false when the block is full.
bool MidasReader::take(HitBlock& block) {
  ++counters_[Metric::source_events];
  counters_[Metric::subevents] += event().banks.size();
  if (event().banks.empty()) ++counters_[Metric::empty_events];
  for (const auto& bank : event().banks) counters_[Metric::folded_ids] += midas_name_is_folded(bank.name) ? 1 : 0;
  if (time_.numbered()) return take_numbered(block);
  if (const auto time = time_.in_records() ? Tick(0) : time_.of(event())) {
    append(*time, block);
  } else {
    const auto cause = time_.cause_for_none(event(), fmt::format("'{}': offset {}", name_, event().offset));
    counters_[Metric::untimed_events] += cause == DropCause::untimed ? 1 : 0;
    leave_out(cause, block);
  }
  return !is_full(block);
}

/// Returns false when the block is full.
bool MidasReader::take_numbered(HitBlock& block) {
  if (const auto number = time_.number_of(event())) return numbers_.add(*number, false, block);
  ++counters_[Metric::untimed_events];
  lose_event(DropCause::untimed, block);
  defect_log().say(Defect::remark, event().offset, [&] {
    return fmt::format("event {} is dropped: {}", event().header.serial, time_.reason_for_no_number());
  });
  return !is_full(block);
}

void MidasReader::keep(Tick number, HitBlock& block) {
  kept_ = KeptEvent::at_end_of(block, files_.number(), event().offset, event().header.serial);
  append(number, block);
}

/// Appends the hits of the current event.
void MidasReader::append(Tick time, HitBlock& block) {
  if (!records_) return append_hits(event(), time, block);
  records_->append(event(), time, defect_log(), block);
}

/// Number of hits that the current event would yield.
std::size_t MidasReader::hits_in_event() {
  return records_ ? records_->count(event()) : std::max<std::size_t>(event().banks.size(), 1);
}

/// Drops the last event kept.
void MidasReader::take_back(DropCause cause, HitBlock& block) {
  kept_.take_back(cause, block);
  report_left_out(defect_log(), kept_.offset, kept_.number, files_.other_than_open(kept_.file), cause);
}

/// Drops the current event of the file.
void MidasReader::leave_out(DropCause cause, HitBlock& block) {
  lose_event(cause, block);
  report_left_out(defect_log(), event().offset, event().header.serial, "", cause);
}

void MidasReader::lose_event(DropCause cause, HitBlock& block) {
  const auto hits = hits_in_event();
  add_loss(
      block,
      {.before = block.size(), .offset = event().offset, .hits = static_cast<std::uint32_t>(hits), .cause = cause});
}

SourceCounts MidasReader::counts() const {
  SourceCounts counts{counters_, {}};
  counts.counters.add(files_.file().counters());
  counts.counters[Metric::skipped_elements] += skipped();
  if (time_.numbered()) counts.counters.add(numbers_.counters());
  if (records_) counts.counters.add(records_->counters());
  if (time_.turns().any()) counts.counters[Metric::clock_turns] += time_.turns().turns();
  return counts;
}

}  // namespace

std::unique_ptr<HitReader> open_midas(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                      const TimeBase& base, Followed followed) {
  if (paths.empty()) uri.refuse("no file");
  return std::make_unique<MidasReader>(uri, paths, id, base, std::move(followed));
}

Json inspect_midas(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps) {
  const std::string& path = uri.path();
  const TimeBase base{.tick_ps = tick_ps.value_or(TimeBase{}.tick_ps)};
  MidasReader reader(uri, std::span(&path, 1), {0}, base);
  auto json = inspect_hits(reader, "midas", {{"contents", reader.header().text}}, n_events);
  for (const auto& [id, n] : reader.ids()) json["event_ids"][std::to_string(id)] = n;
  return json;
}

}  // namespace eventloom
