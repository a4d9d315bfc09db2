#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "formats/trb.hpp"
#include "fuzz_input.hpp"
#include "io/hld/hld_file.hpp"
#include "io/trb/trb_sequence.hpp"

// Data that arrive at the port of a TRB board. The whole input is read as a datagram; then the first byte is the width
// of the numbers, and steps of four bytes determine which numbers arrive, and when. For any input, events are kept in
// ascending order, each is kept, missing, dropped or repeated, and little waits.

namespace {

using namespace eventloom;
constexpr std::size_t kStep = 4;

void read(std::span<const std::byte> bytes) {
  const std::vector<std::byte> exact(bytes.begin(),
                                     bytes.end());  // of this size, so that a read beyond it is detected
  const auto subevents = read_trb_datagram(exact);
  if (!subevents) return;
  std::vector<HldSubevent> found;
  const auto flaw = read_hld_subevents(*subevents, 0, found);
  std::vector<std::uint32_t> words;
  for (const auto& subevent : found) {
    fuzz::require(subevent.offset + subevent.size <= subevents->size(), "subevents lie in their unit");
    subevent.copy_words(words);
  }
  if (!flaw.empty() || subevents->size() > kTrbMostDatagramBytes - kTrbUnitHeaderBytes - kTrbTrailerBytes) return;
  std::vector<std::byte> again;
  append_trb_datagram(*subevents, again);
  const auto second = read_trb_datagram(again);
  fuzz::require(second && std::ranges::equal(*second, *subevents), "subevents composed are read");
}

/// Counts what becomes of events, whose bytes are their number in the input.
class Checked : private TrbSink {
 public:
  Checked(unsigned bits, bool gaps) : sequence(bits, gaps, *this) {}

  void send(std::uint32_t number, std::int64_t now, bool after_silence) {
    sequence.take(number, std::as_bytes(std::span(&number, 1)), now, after_silence);
    ++sent_;
  }
  void finish() {
    sequence.finish();
    const auto& counters = sequence.counters();
    const auto left = counters[Metric::duplicates] + counters[Metric::late_events];
    fuzz::require(!sequence.waiting(), "nothing waits at the end");
    fuzz::require(sent_ == kept_ + dropped_ + left, "every event is kept, dropped, repeated or late");
    fuzz::require(dropped_ == counters[Metric::out_of_step] && missing_ == counters[Metric::missing_numbers],
                  "the counts are those reported");
  }
  [[nodiscard]] Tick next() const { return next_; }

  TrbSequence sequence;

 private:
  static std::uint32_t number_in(std::span<const std::byte> bytes) {
    std::uint32_t number = 0;
    fuzz::require(bytes.size() == sizeof number, "events come as they were sent");
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  void keep(Tick number, std::span<const std::byte> bytes) override {
    fuzz::require(kept_ == 0 || number == next_ || restarted_, "numbers ascend, and skipped ones are missing");
    fuzz::require(kept_ == 0 || number >= next_, "numbers rise");
    fuzz::require(number % 65536 == Tick(number_in(bytes) % 65536), "an event has its own number");
    restarted_ = false;
    next_ = number + 1;
    ++kept_;
  }
  void miss(Tick from, Tick to) override {
    fuzz::require(from < to && from == next_, "missing events follow those kept");
    missing_ += (to - from).value;
    next_ = to;
  }
  void restart() override { restarted_ = true; }
  void leave_out(std::span<const std::byte> bytes) override {
    (void)number_in(bytes);
    ++dropped_;
  }

  Tick next_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t dropped_ = 0;
  bool restarted_ = false;
};

/// Most numbers are close to the previous ones.
std::uint32_t number_of(std::span<const std::uint8_t> step, std::uint32_t last) {
  switch (step[0] % 4) {
    case 0: return last + step[1] % 8;
    case 1: return last - step[1];
    case 2: return last + (std::uint32_t{step[1]} << step[2] % 24);
    default: return std::uint32_t{step[1]} << 16 | std::uint32_t{step[2]} << 8 | step[3];
  }
}

void play(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  Checked board(input[0] % 2 == 0 ? 24 : 16, input[0] % 4 >= 2);
  std::int64_t now = 0;
  std::uint32_t last = input[0];
  for (auto rest = input.subspan(1); rest.size() >= kStep; rest = rest.subspan(kStep)) {
    const auto step = rest.first(kStep);
    last = number_of(step, last) & 0xffffffU;
    if (step[0] >= 240) board.sequence.others_at(board.next() + Tick(step[3] << 12));
    for (unsigned n = 0; n < 1U + step[0] / 4 % 16; ++n) board.send(last++, now, step[0] >= 200 && n == 0);
    now += std::int64_t{step[3]} * 1'000'000;
    if (step[3] % 2 == 0) board.sequence.pass_time(now);
  }
  board.finish();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(fuzz::bytes_of(data, size));
  play(std::span(data, size));
  return 0;
}
