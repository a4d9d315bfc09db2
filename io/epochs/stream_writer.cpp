#include "io/epochs/stream_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kWriteBytes = 1U << 20;

/// Keeps the least and the greatest time of the hits it is shown.
struct TimeRange {
  std::uint32_t epoch_ticks;
  Epoch open = 0;
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;

  void epoch(Epoch epoch) { open = epoch; }
  void hit(std::uint32_t tick_in_epoch, std::uint32_t, std::span<const std::uint32_t>) {
    const Tick time = open * epoch_ticks + tick_in_epoch;
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
  std::string path;
  std::string partial;
  StreamHeader header;
  int descriptor = -1;
  bool finished = false;
  std::vector<std::byte> pending;
  std::vector<IndexEntry> index;
  EpochBufferHeader last_header;
  std::vector<std::uint32_t> last;  ///< words of the last buffer
  StreamFileTrailer trailer;
  std::uint64_t offset = 0;

  [[noreturn]] void fail(const char* what) const {
    throw UserError("cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno));
  }
  void put(std::span<const std::byte> bytes) {
    pending.insert(pending.end(), bytes.begin(), bytes.end());
    offset += bytes.size();
    if (pending.size() >= kWriteBytes) flush();
  }
  void flush() {
    std::span<const std::byte> rest(pending);
    while (!rest.empty()) {
      const ssize_t n = ::write(descriptor, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("write");
      rest = rest.subspan(static_cast<std::size_t>(n));
    }
    pending.clear();
  }
};

StreamWriter::StreamWriter(std::string path, const StreamHeader& header) : file_(std::make_unique<File>()) {
  file_->path = std::move(path);
  file_->partial = file_->path + ".partial";
  file_->header = header;
  file_->descriptor = ::open(file_->partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_->descriptor < 0) file_->fail("create");
  file_->put(encode_stream_header(header));
}

StreamWriter::~StreamWriter() {
  if (file_->descriptor >= 0) ::close(file_->descriptor);
  if (!file_->finished && file_->descriptor >= 0) ::unlink(file_->partial.c_str());
}

void StreamWriter::append(std::span<const std::byte> buffers) {
  auto& file = *file_;
  while (!buffers.empty()) {
    auto header = read_epoch_buffer_header(buffers);
    if (!header || header->stored_bytes() > buffers.size()) {
      throw std::invalid_argument("what is appended to a stream file must be whole epoch buffers");
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

void StreamWriter::abandon() { file_->finished = true; }

StreamSummary StreamWriter::finish() {
  auto& file = *file_;
  if (!file.last.empty()) file.trailer.last_tick = time_range(file.last_header, file.last, file.header).last;
  file.trailer.index_offset = file.offset;
  file.trailer.n_buffers = file.index.size();
  seal(file.trailer, file.index);
  file.put(std::as_bytes(std::span(file.index)));
  file.put(std::as_bytes(std::span(&file.trailer, 1)));
  file.flush();
  if (::fsync(file.descriptor) != 0) file.fail("write");
  if (::rename(file.partial.c_str(), file.path.c_str()) != 0) file.fail("rename to");
  file.finished = true;
  return {file.trailer.n_buffers, file.trailer.n_hits, file.offset, file.trailer.first_tick, file.trailer.last_tick};
}

}  // namespace eventloom
