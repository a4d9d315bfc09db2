#include "io/epochs/stream_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kWriteBytes = 1U << 20;

/// Tracks the earliest and latest time of the hits.
struct TimeRange {
  std::uint32_t epoch_ticks;
  Tick epoch_begin = 0;
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;

  void epoch(Epoch epoch) { epoch_begin = tick_of_epoch(epoch, epoch_ticks); }
  void hit(std::uint32_t tick_in_epoch, std::uint32_t, std::span<const std::uint32_t>) {
    const Tick time = epoch_begin + Tick(tick_in_epoch);
    first = std::min(first, time);
    last = std::max(last, time);
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
};

TimeRange time_range(const EpochBufferHeader& buffer, std::span<const std::uint32_t> words,
                     const StreamHeader& stream) {
  TimeRange range{stream.base.epoch_ticks};
  const MarkerContext context{buffer.epochs(), stream.base.epoch_ticks, stream.payload};
  MarkerReader(words, context, range).read();
  return range;
}

}  // namespace

struct StreamWriter::File {
  File(const std::string& path, StreamHeader about, Recognise ours) : partial(path, ours), header(std::move(about)) {}

  PartialFile partial;
  StreamHeader header;
  std::vector<std::byte> pending;
  std::vector<IndexEntry> index;
  EpochBufferHeader last_header;
  std::vector<std::uint32_t> last;  ///< words of the last buffer
  StreamFileTrailer trailer;
  std::uint64_t offset = 0;

  void put(std::span<const std::byte> bytes) {
    pending.insert(pending.end(), bytes.begin(), bytes.end());
    offset += bytes.size();
    if (pending.size() >= kWriteBytes) flush();
  }
  void flush() {
    partial.write(pending);
    pending.clear();
  }
};

bool begins_stream_file(std::span<const std::byte> head) {
  constexpr auto kMagic = StreamFileHeader::kMagic;
  return head.size() >= sizeof kMagic && std::memcmp(head.data(), &kMagic, sizeof kMagic) == 0;
}

bool is_stream_file(const std::filesystem::path& file) {
  const auto head = head_of(file, sizeof StreamFileHeader::kMagic);
  return begins_stream_file(std::as_bytes(std::span(head)));
}

// Writes the header at once, as it identifies the file.
StreamWriter::StreamWriter(const std::string& path, const StreamHeader& header, Recognise ours)
    : file_(std::make_unique<File>(path, header, ours)) {
  file_->put(encode_stream_header(header));
  file_->flush();
}

StreamWriter::~StreamWriter() = default;

void StreamWriter::append(std::span<const std::byte> buffers) {
  auto& file = *file_;
  while (!buffers.empty()) {
    auto header = read_epoch_buffer_header(buffers);
    if (!header || header->stored_bytes() > buffers.size()) {
      throw std::invalid_argument("only whole epoch buffers can be appended to a stream file");
    }
    const auto stored = buffers.first(header->stored_bytes());
    const auto words = words_of(*header, stored);
    header->sequence = file.index.size();
    header->hits_before = file.trailer.n_hits;
    header->stream_offset = file.offset;
    header->source = file.header.source;
    seal(*header, words);
    file.index.push_back(
        {file.offset, header->first_epoch, header->n_epochs, header->n_hits, header->n_words, header->words_crc});
    if (file.index.size() == 1) file.trailer.first_tick = time_range(*header, words, file.header).first;
    file.trailer.n_hits += header->n_hits;
    file.put(std::as_bytes(std::span(&*header, 1)));
    file.put(stored.subspan(sizeof *header));
    if (!words.empty()) {
      file.last.assign(words.begin(), words.end());
      file.last_header = *header;
    }
    buffers = buffers.subspan(stored.size());
  }
}

void StreamWriter::abandon() { file_->partial.keep(); }

StreamSummary StreamWriter::finish() {
  auto& file = *file_;
  if (!file.last.empty()) file.trailer.last_tick = time_range(file.last_header, file.last, file.header).last;
  file.trailer.index_offset = file.offset;
  file.trailer.n_buffers = file.index.size();
  seal(file.trailer, file.index);
  file.put(std::as_bytes(std::span(file.index)));
  file.put(std::as_bytes(std::span(&file.trailer, 1)));
  file.flush();
  file.partial.sync();
  file.partial.publish();
  return {file.trailer.n_buffers, file.trailer.n_hits, file.offset, file.trailer.first_tick, file.trailer.last_tick};
}

}  // namespace eventloom
