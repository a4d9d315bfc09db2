#include "io/hld/hld_hits.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "io/recorded/block_losses.hpp"

namespace eventloom {

namespace {

/// Number of payload words before the data of a subevent's hit, and in the hit of an event without subevents.
constexpr std::size_t kHeadWords = 8;
constexpr std::uint32_t kEmptyWords = 4;

std::uint32_t trigger_word(const HldEvent& event) { return event.trigger() << 16; }

/// Byte order of a subevent, in the lower half of its trigger word. Recordings of earlier versions have 0.
constexpr std::uint32_t kOfBigEndian = 1;
constexpr std::uint32_t kOfLittleEndian = 2;
constexpr std::uint32_t kOfOrder = 0xffff;

/// Appends a hit with `words` zero payload words. Returns the first of them.
std::uint32_t* append_hit(HitBlock& block, Tick time, std::uint32_t channel, std::size_t words) {
  const auto begin = block.payload.size();
  block.time.push_back(time);
  block.channel.push_back(channel);
  block.payload_begin.push_back(static_cast<std::uint32_t>(begin));
  block.payload.resize(begin + words);
  return block.payload.data() + begin;
}

class SubeventHits final : public HldHitMaker {
 public:
  void append(const HldEvent& event, Tick number, HitBlock& block, DefectLog&) override {
    for (const auto& subevent : event.subevents) {
      const auto words = kHeadWords + (subevent.data.size() + 3) / 4;
      auto* payload = append_hit(block, number, subevent.id & kValueMask, words);
      const std::array<std::uint32_t, kHeadWords> head = {static_cast<std::uint32_t>(words - 1),
                                                          trigger_word(event) | order_of(subevent),
                                                          event.id,
                                                          event.number,
                                                          subevent.size,
                                                          subevent.decoding,
                                                          subevent.id,
                                                          subevent.trigger_number};
      std::ranges::copy(head, payload);
      subevent.copy_data(reinterpret_cast<std::byte*>(payload + kHeadWords));
    }
    if (!event.subevents.empty()) return;
    const std::array<std::uint32_t, kEmptyWords> head = {kEmptyWords - 1, trigger_word(event), event.id, event.number};
    std::ranges::copy(head, append_hit(block, number, kHldNoSubevent, head.size()));
  }

  [[nodiscard]] PayloadTable payload() const override {
    return PayloadTable::uniform(PayloadTable::kLengthInFirstWord);
  }
  [[nodiscard]] std::string_view rule() const override { return hld_subevent_rule(); }

 private:
  static std::uint32_t order_of(const HldSubevent& subevent) {
    return subevent.big_endian ? kOfBigEndian : kOfLittleEndian;
  }
};

class TdcHits final : public HldHitMaker {
 public:
  TdcHits(TdcAddresses addresses, const std::optional<TdcClock>& clock)
      : decoder_(std::move(addresses)), clock_(clock) {}

  void append(const HldEvent& event, Tick number, HitBlock& block, DefectLog& defect_log) override {
    for (const auto& subevent : event.subevents) {
      if (subevent.word_bytes() != sizeof(std::uint32_t)) continue;
      subevent.copy_words(words_);
      decoder_.decode(words_);
      append_hits(subevent, event.number, number, block, defect_log);
    }
  }

  [[nodiscard]] PayloadTable payload() const override { return PayloadTable::uniform(kWords); }
  [[nodiscard]] std::string_view rule() const override {
    return "HLD of TRB3 boards: each time word of a TDC is a hit, its channel the TDC's address << 8 | TDC channel.\n"
           "Payload: the time word (fine time in bits 12-21, rising edge in bit 11, coarse time of 5 ns in bits "
           "0-10),\n"
           "the epoch counter of 10.24 us it belongs to, the event number.\n";
  }
  [[nodiscard]] std::uint64_t anomalies() const override { return counters_[Metric::tdc_unknown_words]; }
  [[nodiscard]] ClockTurns* counter() override { return clock_ ? &clock_->turns() : nullptr; }
  [[nodiscard]] Counters counters() const override {
    auto counters = counters_;
    if (clock_) counters[Metric::clock_turns] = clock_->turns().turns();
    return counters;
  }

 private:
  static constexpr std::uint8_t kWords = 3;

  void append_hits(const HldSubevent& subevent, std::uint32_t event_number, Tick number, HitBlock& block,
                   DefectLog& defect_log) {
    const auto hits = decoder_.hits();
    auto faults = decoder_.faults();
    counters_[Metric::tdc_hits] += hits.size();
    for (std::size_t i = 0; i < hits.size(); ++i) {
      for (; !faults.empty() && faults.front().hits_before <= i; faults = faults.subspan(1)) {
        lose(subevent, faults.front(), block, defect_log);
      }
      const auto& hit = hits[i];
      const auto time = clock_ ? clock_->ticks(hit) : std::optional(number);
      if (!time) {
        lose(subevent, {.kind = TdcFault::Kind::late, .address = hit.address, .place = hit.place, .hits = 1}, block,
             defect_log);
        continue;
      }
      block.time.push_back(*time);
      block.channel.push_back(hit.address << 8 | tdc_channel(hit.word));
      for (const auto word : {hit.word, hit.epoch, event_number}) block.payload.push_back(word);
    }
    for (const auto& fault : faults) lose(subevent, fault, block, defect_log);
  }

  void lose(const HldSubevent& subevent, const TdcFault& fault, HitBlock& block, DefectLog& defect_log) {
    const auto offset = subevent.offset + kHldSubeventHeaderBytes + std::uint64_t{4} * fault.place;
    defect_log.say(Defect::tdc, offset, [&fault] { return fault.text(); });
    if (fault.kind == TdcFault::Kind::unknown_word) {
      counters_[Metric::tdc_unknown_words] += fault.count;
      return;
    }
    add_loss(block, {.before = block.size(),
                     .offset = offset,
                     .hits = fault.hits,
                     .leaves_hole = fault.kind == TdcFault::Kind::cut});
  }

  TrbTdcDecoder decoder_;
  std::optional<TdcClock> clock_;
  std::vector<std::uint32_t> words_;  ///< data of the current subevent
  Counters counters_{Metric::tdc_hits};
};

}  // namespace

std::unique_ptr<HldHitMaker> make_subevent_hits() { return std::make_unique<SubeventHits>(); }

std::string_view hld_subevent_rule() {
  return "HLD: each subevent is a hit, its channel the low 28 bits of its id.\n"
         "Payload: number of words that follow, trigger type << 16 | byte order (1 big-endian, 2 little-endian),\n"
         "event id, event number, subevent size in bytes, decoding, id, trigger number << 8 | tag, then the data as\n"
         "32-bit words: the values of the file, words of other lengths packed in little-endian order and filled up\n"
         "with zeros.\n"
         "An event without subevents is a hit of channel 0xfffffff with the first three words after the number.\n";
}

bool has_hld_subevents(std::string_view description) {
  const auto first_line = hld_subevent_rule().substr(0, hld_subevent_rule().find('\n') + 1);
  return description.find(first_line) != description.npos;
}

std::optional<HldHit> read_hld_hit(std::span<const std::uint32_t> payload, const HldOrigin& origin) {
  if (payload.size() < kEmptyWords || payload[0] != payload.size() - 1) return std::nullopt;
  HldHit hit{.event_id = payload[2], .event_number = payload[3], .subevent = {}, .data = {}};
  if (payload.size() == kEmptyWords) return hit;
  const auto order = payload[1] & kOfOrder;
  if (payload.size() < kHeadWords || payload[4] < kHldSubeventHeaderBytes || order > kOfLittleEndian) return {};
  const bool big_endian = order == 0 ? origin.is_big_endian(payload[6]) : order == kOfBigEndian;
  const HldSubeventHeader header{payload[4], payload[5], payload[6], payload[7], big_endian};
  const auto bytes = header.size - kHldSubeventHeaderBytes;
  const auto data = std::as_bytes(payload.subspan(kHeadWords));
  if (data.size() != (bytes + 3) / 4 * 4 || header.word_log2() > kHldMaxWordLog2) return std::nullopt;
  hit.subevent = header;
  hit.data = data.first(bytes);
  return hit;
}

std::unique_ptr<HldHitMaker> make_tdc_hits(TdcAddresses addresses, const std::optional<TdcClock>& clock) {
  return std::make_unique<TdcHits>(std::move(addresses), clock);
}

}  // namespace eventloom
