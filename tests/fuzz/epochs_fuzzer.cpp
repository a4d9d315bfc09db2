#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/crc32c.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "fuzz_input.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/stream_scan.hpp"

/// The input is an `.epochs` file. The mutator below reseals what has been changed, since otherwise no code after a
/// checksum would ever be reached; it also moves whole epoch buffers and rewrites indexes.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace eventloom;

/// Reads this many slices from either end of the stream: its epochs may lie far apart.
constexpr std::uint64_t kSteps = 8;
constexpr std::uint64_t kEpochsPerSlice = 4;

std::vector<std::uint64_t> joined(const SliceData& data) {
  std::vector<std::byte> bytes;
  for (const auto& piece : data.pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  fuzz::require(bytes.size() % sizeof(std::uint64_t) == 0, "epoch buffers are whole words of 8 bytes");
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

void require_whole_buffers(std::span<const std::byte> bytes) {
  Epoch next = 0;
  while (!bytes.empty()) {
    const auto header = read_epoch_buffer_header(bytes);
    fuzz::require(header && header->stored_bytes() <= bytes.size(), "a source returns whole epoch buffers");
    fuzz::require(header->first_epoch >= next, "a source returns epoch buffers in ascending order");
    next = header->epochs().end;
    bytes = bytes.subspan(header->stored_bytes());
  }
}

/// Collects and builds slice after slice as a run does.
class Run {
 public:
  explicit Run(EpochsSource& source) : source_(source), builder_(settings(source)) {}

  /// Returns the hits of these slices.
  std::uint64_t walk(Epoch from) {
    const SliceId first = geometry_.slice_of(from);
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < kSteps; ++i) hits += step({first.value + i});
    return hits;
  }

 private:
  SliceBuilderSettings settings(const EpochsSource& source) {
    geometry_.base = source.header().base;
    geometry_.epochs_per_slice = kEpochsPerSlice;
    geometry_.overlap = 20;
    geometry_.reach = 5;
    return {.geometry = geometry_,
            .events = {{parse_event_definition("gap:5,2", 1000), geometry_.overlap}},
            .payload = {source.header().payload},
            .with_payload = source.header().payload.any()};
  }

  std::uint64_t step(SliceId slice) {
    SliceData data;
    source_.collect(geometry_.sent_epochs(slice), data);
    const auto words = joined(data);
    const auto bytes = std::as_bytes(std::span(words));
    require_whole_buffers(bytes);
    const std::vector<SourceSlice> parts{{{bytes}, data.damage}};
    problems_.clear();
    builder_.build(slice, parts, built_, problems_);
    fuzz::require(built_.front().ledger.balances(), "every hit of a slice is accounted for");
    source_.release_before(geometry_.owned_epochs(slice).end);
    return built_.front().ledger.hits_in;
  }

  EpochsSource& source_;
  SliceGeometry geometry_;
  SliceBuilder builder_;
  std::vector<BuiltSlice> built_;
  std::vector<BuildProblem> problems_;
};

void read_as_source(std::span<const std::byte> file) {
  const fuzz::MemoryFile stored(file);
  try {
    EpochsSource source(stored.path());
    (void)source.input();
    const auto first = source.first_epoch();
    if (!first) return;
    const Epoch end = source.end_epoch().value();
    Run run(source);
    const auto hits = run.walk(*first);
    if (end - *first > Epoch((kSteps - 1) * kEpochsPerSlice)) {
      const Epoch half(kSteps / 2 * kEpochsPerSlice);
      run.walk(std::max(*first + 2 * half, end - std::min(end, half)));
    } else if (source.index_state() != IndexState::good) {
      fuzz::require(hits == source.hits_read(), "the slices' hits are those of the stream");
    }
  } catch (const UserError&) {
    return;  // not an .epochs file, or an epoch too long for a slice
  }
}

/// Calls the same functions on memory of exactly the file's size, where each read beyond it is detected.
void read_in_memory(std::span<const std::byte> file) {
  bool damaged = false;
  (void)find_index(file, damaged);
  for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{64}}) {
    if (begin <= file.size()) (void)scan_stream(file, begin, {});
  }
  try {
    const auto decoded = decode_stream_header(file);
    if (decoded.first_buffer_offset <= file.size())
      (void)scan_stream(file, decoded.first_buffer_offset, decoded.header.base);
  } catch (const std::runtime_error&) {
    return;
  }
}

using Bytes = std::vector<std::byte>;
using Random = std::minstd_rand;

template <class T>
T load(const Bytes& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void store(Bytes& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// An `.epochs` file in parts that can be moved.
struct Parts {
  Bytes head;
  std::vector<Bytes> buffers;
  Bytes rest;  ///< index and trailer, or bytes that are not an epoch buffer
};

/// Bytes up to the first epoch buffer. The file has a whole StreamFileHeader.
std::size_t head_bytes(const Bytes& file) {
  const std::uint64_t end = sizeof(StreamFileHeader) + std::uint64_t{load<StreamFileHeader>(file, 0).text_bytes};
  return std::min<std::size_t>((end + 63) / 64 * 64, file.size());
}

Parts take_apart(const Bytes& file) {
  Parts parts;
  std::size_t at = head_bytes(file);
  parts.head.assign(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at));
  while (at + sizeof(EpochBufferHeader) <= file.size()) {
    const auto header = load<EpochBufferHeader>(file, at);
    if (header.magic != EpochBufferHeader::kMagic || header.stored_bytes() > file.size() - at) break;
    const auto* begin = file.data() + at;
    parts.buffers.emplace_back(begin, begin + header.stored_bytes());
    at += header.stored_bytes();
  }
  parts.rest.assign(file.begin() + static_cast<std::ptrdiff_t>(at), file.end());
  return parts;
}

void seal_head(Bytes& head) {
  auto header = load<StreamFileHeader>(head, 0);
  const auto used = std::min<std::size_t>(sizeof header + header.text_bytes, head.size());
  const auto behind_crc = std::span(head).first(used).subspan(offsetof(StreamFileHeader, source));
  header.header_crc = crc32c(behind_crc);
  store(head, 0, header);
}

void seal_buffer(Bytes& buffer) {
  auto header = load<EpochBufferHeader>(buffer, 0);
  std::vector<std::uint32_t> words(header.n_words);
  if (!words.empty()) std::memcpy(words.data(), buffer.data() + sizeof header, words.size() * sizeof words[0]);
  seal(header, words);
  store(buffer, 0, header);
}

/// Numbers the buffers as if they had been recorded in this order.
void renumber(Parts& parts) {
  std::uint64_t offset = parts.head.size();
  std::uint64_t sequence = 0;
  std::uint64_t hits = 0;
  for (auto& buffer : parts.buffers) {
    auto header = load<EpochBufferHeader>(buffer, 0);
    header.stream_offset = offset;
    header.sequence = sequence++;
    header.hits_before = hits;
    hits += header.n_hits;
    offset += buffer.size();
    store(buffer, 0, header);
  }
}

/// Writes an index of the existing buffers, and its trailer.
void write_index(Parts& parts) {
  StreamFileTrailer trailer;
  std::vector<IndexEntry> entries;
  trailer.index_offset = parts.head.size();
  for (const auto& buffer : parts.buffers) {
    const auto header = load<EpochBufferHeader>(buffer, 0);
    entries.push_back(
        {trailer.index_offset, header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
    trailer.index_offset += buffer.size();
    trailer.n_hits += header.n_hits;
  }
  trailer.n_buffers = entries.size();
  seal(trailer, entries);
  const auto index = std::as_bytes(std::span(entries));
  const auto end = std::as_bytes(std::span(&trailer, 1));
  parts.rest.assign(index.begin(), index.end());
  parts.rest.insert(parts.rest.end(), end.begin(), end.end());
}

/// Sets right checksums for the existing index and trailer.
void seal_index(Parts& parts) {
  if (parts.rest.size() < sizeof(StreamFileTrailer)) return;
  const std::size_t at = parts.rest.size() - sizeof(StreamFileTrailer);
  auto trailer = load<StreamFileTrailer>(parts.rest, at);
  std::vector<IndexEntry> entries(at / sizeof(IndexEntry));
  if (!entries.empty()) std::memcpy(entries.data(), parts.rest.data(), entries.size() * sizeof entries[0]);
  seal(trailer, entries);
  store(parts.rest, at, trailer);
}

void move_buffers(Parts& parts, Random& random) {
  auto& buffers = parts.buffers;
  if (buffers.empty()) return;
  const auto a = random() % buffers.size();
  const auto b = random() % buffers.size();
  switch (random() % 3) {
    case 0: std::swap(buffers[a], buffers[b]); break;
    case 1: buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(a)); break;
    default: {
      auto copy = buffers[a];
      buffers.insert(buffers.begin() + static_cast<std::ptrdiff_t>(b), std::move(copy));
    }
  }
}

Bytes put_together(const Parts& parts) {
  Bytes file = parts.head;
  for (const auto& buffer : parts.buffers) file.insert(file.end(), buffer.begin(), buffer.end());
  file.insert(file.end(), parts.rest.begin(), parts.rest.end());
  return file;
}

Bytes repaired(const Bytes& file, Random& random) {
  auto parts = take_apart(file);
  if (random() % 4 == 0) move_buffers(parts, random);
  if (random() % 4 == 0) renumber(parts);
  for (auto& buffer : parts.buffers) {
    if (random() % 16 != 0) seal_buffer(buffer);
  }
  seal_head(parts.head);
  random() % 4 == 0 ? write_index(parts) : seal_index(parts);
  return put_together(parts);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size < sizeof(StreamFileHeader) || random() % 16 == 0) return size;
  Bytes file(size);
  std::memcpy(file.data(), data, size);
  file = repaired(file, random);
  if (file.size() > max_size) return size;
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::bytes_of(data, size);
  read_in_memory(file);
  read_as_source(file);
  return 0;
}
