#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "formats/built_slice_wire.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "formats/markers.hpp"
#include "fuzz_input.hpp"

/// The input is a Setup, followed by the words of epoch buffers. Valid headers and checksums are composed here, so that
/// any words reach the decoder.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace eventloom;
using Words = std::span<const std::uint32_t>;

struct Setup {
  std::uint8_t payload = 0;
  std::uint8_t definition = 0;
  std::uint8_t sources = 0;
  std::uint8_t faults = 0;
  std::uint16_t epoch_ticks = 0;
  std::uint16_t n_epochs = 0;
  Epoch first_epoch = 0;
};
static_assert(sizeof(Setup) == 16);

/// Bits of Setup::faults.
enum Fault : std::uint8_t { kWrongHits = 1, kTwice = 2, kCut = 4, kNextSlice = 8 };

PayloadTable payload_table(const Setup& setup) {
  switch (setup.payload % 4) {
    case 0: return {};
    case 1: return PayloadTable::uniform(setup.payload / 4);
    case 2: return PayloadTable::uniform(PayloadTable::kLengthInFirstWord);
    default: break;
  }
  PayloadTable mixed;
  for (std::size_t i = 0; i < mixed.words.size(); ++i) mixed.words[i] = static_cast<std::uint8_t>(i % 4);
  mixed.words.back() = PayloadTable::kLengthInFirstWord;
  return mixed;
}

std::uint32_t epoch_ticks(const Setup& setup) { return setup.epoch_ticks + 1U; }
/// Whether all ticks that a slice of these epochs reads fit 64 bits: sources return no others.
bool can_be_built(const Setup& setup) { return setup.first_epoch < Epoch(std::uint64_t{1} << 44); }
EpochRange epochs(const Setup& setup) { return {setup.first_epoch, setup.first_epoch + Epoch(setup.n_epochs + 1U)}; }

/// Records all items it visits, and touches every word.
struct Recorder {
  void note(std::uint64_t kind, std::initializer_list<std::uint64_t> values, Words words = {}) {
    log.push_back(kind);
    log.insert(log.end(), values);
    log.push_back(words.size());
    log.insert(log.end(), words.begin(), words.end());
  }
  void epoch(Epoch epoch) { note(0, {epoch.value}); }
  void hit(std::uint32_t tick, std::uint32_t channel, Words payload) {
    note(1, {tick, channel}, payload);
    ++hits;
  }
  void tag(std::uint32_t tag) { note(2, {tag}); }
  void peak(Peak peak) { note(3, {peak.time, peak.amplitude, peak.width}); }
  void histogram(std::uint32_t first_bin, Words bins) { note(4, {first_bin}, bins); }
  void schedule(Words words) { note(5, {}, words); }

  std::vector<std::uint64_t> log;
  std::uint32_t hits = 0;
};

/// Encodes all items it visits.
class Rewriter {
 public:
  void epoch(Epoch epoch) {
    writer_.epoch(epoch);
    group_open_ = false;
  }
  void hit(std::uint32_t tick, std::uint32_t channel, Words payload) {
    if (!group_open_ || tick != tick_) writer_.time(tick);
    writer_.channel(channel, payload);
    tick_ = tick;
    group_open_ = true;
  }
  void tag(std::uint32_t tag) { writer_.tag(tag); }
  void peak(Peak peak) { writer_.peak(peak); }
  void histogram(std::uint32_t first_bin, Words bins) {
    writer_.histogram(first_bin, bins);
    group_open_ = false;
  }
  void schedule(Words words) {
    std::vector<ScheduleEntry> entries;
    for (std::size_t i = 0; i < words.size(); i += 3) entries.push_back({words[i], words[i + 1], words[i + 2]});
    writer_.schedule(entries);
    group_open_ = false;
  }
  Words words() {
    writer_.finish();
    return words_;
  }

 private:
  std::vector<std::uint32_t> words_;
  MarkerWriter writer_{words_};
  std::uint32_t tick_ = 0;
  bool group_open_ = false;
};

template <class Visitor>
bool read(Words words, const Setup& setup, const PayloadTable& payload, Visitor& visit) {
  const MarkerContext context{epochs(setup), epoch_ticks(setup), payload};
  const auto error = MarkerReader(words, context, visit).read();
  if (error) fuzz::require(error->word <= words.size(), "an error lies in the words");
  return !error;
}

void read_and_rewrite(Words words, const Setup& setup) {
  const auto payload = payload_table(setup);
  Recorder first;
  Rewriter rewriter;
  if (!read(words, setup, payload, first)) return;
  read(words, setup, payload, rewriter);
  Recorder second;
  fuzz::require(read(rewriter.words(), setup, payload, second), "words written can be read");
  fuzz::require(first.log == second.log, "the words read are those written");
}

/// One source's stored epoch buffers, aligned as the builder requires.
struct Stored {
  std::vector<std::uint64_t> memory;
  bool good = true;

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(memory)); }
};

Stored store(Words words, const Setup& setup) {
  Stored out;
  Recorder recorder;
  out.good = read(words, setup, payload_table(setup), recorder) && setup.faults == 0;
  EpochBufferHeader header;
  header.first_epoch = setup.first_epoch;
  header.n_epochs = setup.n_epochs + 1U;
  header.n_words = static_cast<std::uint32_t>(words.size());
  header.n_hits = recorder.hits + ((setup.faults & kWrongHits) != 0 ? 1 : 0);
  seal(header, words);
  out.memory.resize(header.stored_bytes() / sizeof out.memory[0]);
  std::memcpy(out.memory.data(), &header, sizeof header);
  if (!words.empty()) std::memcpy(out.memory.data() + sizeof header / 8, words.data(), words.size_bytes());
  out.good = out.good && read_epoch_buffer_header(out.bytes());
  if ((setup.faults & kTwice) != 0) {
    const auto once = out.memory;
    out.memory.insert(out.memory.end(), once.begin(), once.end());
  }
  if ((setup.faults & kCut) != 0) out.memory.pop_back();
  return out;
}

std::string definition(const Setup& setup) {
  const unsigned length = setup.definition / 4;
  const auto text = [](unsigned n) { return std::to_string(n); };
  switch (setup.definition % 4) {
    case 0: return "tag";
    case 1: return "gap:" + text(length) + "," + text(1 + length % 3);
    default:
      return "multiplicity:" + text(1 + length) + "," + text(1 + length % 3) + "," + text(length % 2) + "," +
             text(length % 4);
  }
}

SliceBuilderSettings builder_settings(const Setup& setup, std::size_t n_sources) {
  SliceBuilderSettings settings;
  settings.geometry.base.epoch_ticks = epoch_ticks(setup);
  settings.geometry.epochs_per_slice = 4;
  settings.geometry.overlap = 30;
  settings.events = {{parse_event_definition(definition(setup), 1000), settings.geometry.overlap}};
  settings.payload.assign(n_sources, payload_table(setup));
  settings.with_payload = settings.payload[0].any();
  return settings;
}

void require_same_after_travel(const BuiltSlice& slice) {
  std::vector<BuiltSliceHead> heads;
  std::vector<std::byte> sent;
  for (const auto& piece : to_wire({&slice, 1}, heads)) sent.insert(sent.end(), piece.begin(), piece.end());
  BuiltSlice received;
  from_wire(sent, {&received, 1});
  fuzz::require(received.events.time == slice.events.time && received.hits.time == slice.hits.time &&
                    received.hits.payload == slice.hits.payload && received.ledger.hits_in == slice.ledger.hits_in,
                "a built slice arrives as it was sent");
}

void build(Words words, const Setup& setup) {
  const std::size_t n_sources = setup.sources % 3 + 1U;
  std::vector<Stored> stored;
  std::vector<SourceSlice> sources;
  for (std::size_t i = 0; i < n_sources; ++i) {
    const std::size_t begin = words.size() * i / n_sources;
    stored.push_back(store(words.subspan(begin, words.size() * (i + 1) / n_sources - begin), setup));
  }
  for (const auto& s : stored) sources.push_back({{s.bytes()}, {}});

  const auto settings = builder_settings(setup, n_sources);
  SliceBuilder builder(settings);
  SliceId slice = settings.geometry.slice_of(setup.first_epoch);
  if ((setup.faults & kNextSlice) != 0) ++slice.value;
  std::vector<BuiltSlice> kinds;
  std::vector<BuildProblem> problems;
  builder.build(slice, sources, kinds, problems);
  auto& built = kinds.front();
  fuzz::require(built.ledger.balances(), "every hit of a slice is accounted for");
  if (std::ranges::all_of(stored, &Stored::good)) {
    fuzz::require(problems.empty() && built.ledger.dropped() == 0, "readable data are not dropped");
  }
  require_same_after_travel(built);
  EventFilter filter;
  filter.add("n_hits>=2", 1000);
  filter.add("systems<3", 1000);
  filter.select(built);
  fuzz::require(built.ledger.balances(), "every hit of a slice is accounted for after the filter");
}

using Random = std::minstd_rand;

std::uint32_t random_marker(Random& random) {
  const auto type = static_cast<MarkerType>(random() % 8);
  const auto small = static_cast<std::uint32_t>(random() % 8);
  switch (type) {
    case MarkerType::time: return encode_time(small, random() % 16 == 0 ? kLongGroup : random() % 6);
    case MarkerType::channel: return encode_marker(type, small << 22 | random() % 16);
    default: return encode_marker(type, small);
  }
}

/// Changes, inserts, removes or copies words, since the grammar consists of words, not of bytes.
void mutate_words(std::vector<std::uint32_t>& words, Random& random) {
  const std::size_t at = random() % (words.size() + 1);
  const auto here = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 4) {
    case 0: words.insert(here, random_marker(random)); break;
    case 1:
      if (here != words.end()) *here = random_marker(random);
      break;
    case 2:
      if (here != words.end()) words.erase(here);
      break;
    default: {
      const std::vector<std::uint32_t> copy(here, here + std::min<std::ptrdiff_t>(words.end() - here, 16));
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(random() % (words.size() + 1)), copy.begin(),
                   copy.end());
    }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  if (random() % 2 == 0 || size < sizeof(Setup)) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<std::uint32_t> words((size - sizeof(Setup)) / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data + sizeof(Setup), words.size() * sizeof words[0]);
  for (auto n = random() % 4 + 1; n > 0; --n) mutate_words(words, random);
  words.resize(std::min(words.size(), (max_size - sizeof(Setup)) / sizeof(std::uint32_t)));
  if (!words.empty()) std::memcpy(data + sizeof(Setup), words.data(), words.size() * sizeof words[0]);
  return sizeof(Setup) + words.size() * sizeof(std::uint32_t);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Setup setup;
  if (size < sizeof setup) return 0;
  std::memcpy(&setup, data, sizeof setup);
  std::vector<std::uint32_t> words((size - sizeof setup) / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data + sizeof setup, words.size() * sizeof words[0]);
  read_and_rewrite(words, setup);
  if (can_be_built(setup)) build(words, setup);
  return 0;
}
