#include "io/epochs/stream_writer.hpp"

#include <cstring>
#include <vector>

#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kWriteBytes = 1U << 20;

}  // namespace

struct StreamWriter::File {
  File(const std::string& path, const StreamHeader& header, Recognise ours) : partial(path, ours), layout(header) {}

  PartialFile partial;
  StreamLayout layout;
  std::vector<std::byte> pending;

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
  file_->layout.begin(file_->pending);
  file_->flush();
}

StreamWriter::~StreamWriter() = default;

void StreamWriter::append(std::span<const std::byte> buffers) {
  file_->layout.place(buffers, file_->pending);
  if (file_->pending.size() >= kWriteBytes) file_->flush();
}

void StreamWriter::abandon() { file_->partial.keep(); }

StreamSummary StreamWriter::finish() {
  file_->layout.end(file_->pending);
  file_->flush();
  file_->partial.sync();
  file_->partial.publish();
  return file_->layout.summary();
}

}  // namespace eventloom
