#include "io/files/byte_stream.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/runtime/error.hpp"
#include "io/files/frame_sequence.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kPackedBytes = std::size_t{64} << 10;
constexpr std::size_t kHeadBytes = 4096;

}  // namespace

ByteStream::ByteStream(const std::string& path) : file_(path) {
  std::vector<std::byte> head(std::min<std::uint64_t>(kHeadBytes, file_.size()));
  head.resize(file_.read_at(0, head));
  packing_ = packing_of(head, path);
  if (packing_ == Packing::none) return;
  if (!is_unpacked(packing_)) refuse_packed(path, packing_);
  unpacker_ = make_unpacker();
  packed_.resize(kPackedBytes);
}

std::size_t ByteStream::read(std::span<std::byte> out) {
  std::size_t done = 0;
  if (unpacker_ != nullptr) {
    done = unpack(out);
  } else if (failure_.empty()) {
    done = file_.read_at(offset_, out);
    failure_ = file_.failure();
    file_offset_ = offset_ + done;
  }
  offset_ += done;
  return done;
}

std::size_t ByteStream::unpack(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && failure_.empty()) {
    const bool more = begin_ < end_ || refill();
    if (!more && whole_) break;
    const auto step = unpacker_->step(std::span(packed_).subspan(begin_, end_ - begin_), out.subspan(done));
    begin_ += step.taken;
    done += step.given;
    whole_ = step.whole;
    if (!step.defect.empty()) {
      failure_ = "the compressed data (" + std::string(name_of(packing_)) + ") are damaged: " + step.defect;
    } else if (!more && step.given == 0 && !step.whole && failure_.empty()) {
      failure_ = "the file ends inside its compressed data (" + std::string(name_of(packing_)) + ")";
    }
  }
  return done;
}

/// Reads more packed data. Returns false at the end of the file.
bool ByteStream::refill() {
  begin_ = 0;
  end_ = file_.read_at(file_offset_, packed_);
  file_offset_ += end_;
  failure_ = file_.failure();
  return end_ != 0;
}

void ByteStream::skip(std::uint64_t n) {
  if (unpacker_ == nullptr) {
    offset_ += n;
    return;
  }
  std::vector<std::byte> discarded(static_cast<std::size_t>(std::min<std::uint64_t>(n, kPackedBytes)));
  while (n > 0) {
    const auto done = read(std::span(discarded).first(std::min<std::uint64_t>(n, discarded.size())));
    if (done == 0) return;
    n -= done;
  }
}

double ByteStream::share_read() const {
  if (file_.size() == 0) return 1;
  const auto read = static_cast<double>(file_offset_ - (end_ - begin_));
  return std::min(read / static_cast<double>(file_.size()), 1.0);
}

void refuse_to_follow(const std::string& path) {
  throw UserError("'" + path +
                  "' is compressed and cannot be followed: omit follow, or follow the file as it is before");
}

ContentsLength length_of_packed(const std::string& path) {
  struct Known {
    std::filesystem::file_time_type changed;
    std::uint64_t packed_bytes = 0;
    ContentsLength length;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> known;
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(path, error);
  ByteStream stream(path);
  const std::lock_guard lock(mutex);
  auto& entry = known[path];
  if (entry.changed == changed && entry.packed_bytes == stream.file().size()) return entry.length;
  std::vector<std::byte> block(kPackedBytes);
  while (stream.read(block) != 0) {
  }
  entry = {changed, stream.file().size(), {stream.offset(), stream.failure()}};
  return entry.length;
}

}  // namespace eventloom
