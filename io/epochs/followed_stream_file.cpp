#include "io/epochs/followed_stream_file.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kLongestSearch = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;

/// Throws std::runtime_error that states the defect.
DecodedStreamHeader decode_header_of(InputHandle& file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), kLongestSearch)));
  bytes.resize(file.read_at(0, bytes));
  auto decoded = decode_stream_header(bytes);
  if (decoded.first_buffer_offset > file.size()) throw std::runtime_error("the file ends in its header");
  return decoded;
}

/// The first place after the front with the header of a buffer; 0 if there is none.
std::size_t find_buffer(std::span<const std::byte> bytes) {
  for (std::size_t at = kBufferAlignment; at + sizeof(EpochBufferHeader) <= bytes.size(); at += kBufferAlignment) {
    if (read_epoch_buffer_header(bytes.subspan(at))) return at;
  }
  return 0;
}

std::uint64_t first_word(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  if (bytes.size() >= sizeof word) std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

bool ends_in_trailer(std::span<const std::byte> bytes) {
  constexpr auto kBytes = sizeof(StreamFileTrailer);
  return bytes.size() >= kBytes && first_word(bytes.last(kBytes)) == StreamFileTrailer::kMagic;
}

}  // namespace

bool has_stream_header(const std::string& path) {
  try {
    InputHandle file(path);
    static_cast<void>(decode_header_of(file));
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

FollowedStreamFile::FollowedStreamFile(const std::string& path, Followed files)
    : files_(std::move(files)), file_(path) {
  try {
    header_ = decode_header_of(file_);
  } catch (const std::runtime_error& error) {
    throw UserError("'" + path + "': " + error.what());
  }
  offset_ = header_.first_buffer_offset;
}

FollowedStreamFile::Item FollowedStreamFile::next() {
  offset_ += taken_;
  begin_ += std::exchange(taken_, 0);
  if (has_index_ || files_->stopped()) return Item::end;
  if (take_whole()) return Item::buffer;
  read(0);
  return take_whole() ? Item::buffer : look();
}

/// Takes the buffer at the front, as last read, if it is whole and intact.
bool FollowedStreamFile::take_whole() {
  const auto header = read_epoch_buffer_header(rest());
  const bool whole = header && header->stored_bytes() <= rest().size();
  if (!whole || !words_intact(*header, words_of(*header, rest()))) return false;
  taken_ = static_cast<std::size_t>(header->stored_bytes());
  return true;
}

/// Reads the front again: a block, or a whole buffer and `more` bytes, if the file has them.
void FollowedStreamFile::read(std::size_t more) {
  const auto size = file_.size_now().value_or(0);
  const auto read_first = [&](std::uint64_t n) {
    bytes_.resize(static_cast<std::size_t>(std::min(n, size - std::min(size, offset_))));
    bytes_.resize(file_.read_at(offset_, bytes_));
    begin_ = 0;
  };
  read_first(kBlockBytes);
  const auto header = read_epoch_buffer_header(rest());
  const auto wanted = (header ? header->stored_bytes() : 0) + more;
  if (wanted > rest().size()) read_first(wanted);
}

/// There is no whole buffer. The file may have changed during this look: only another one confirms damage.
FollowedStreamFile::Item FollowedStreamFile::look() {
  const auto item = judge_front();
  if (defect_.empty() || item == Item::pause) return item;
  const Finding found{offset_, item, taken_};
  if (std::exchange(last_finding_, found) == found) return item;
  taken_ = 0;
  return Item::pause;
}

FollowedStreamFile::Item FollowedStreamFile::judge_front() {
  const bool is_final = files_->is_final(path());  // before the bytes, which are then the last
  defect_ = follow_defect(file_, offset_, is_final);
  if (defect_.empty()) {
    read(kLongestSearch);
    defect_ = file_.failure();
  }
  if (!defect_.empty()) return Item::broken;
  if (take_whole()) return Item::buffer;
  if (rest().empty()) return is_final ? Item::end : Item::pause;
  has_index_ = is_index(rest());
  return has_index_ ? Item::end : judge(is_final);
}

FollowedStreamFile::Item FollowedStreamFile::judge(bool is_final) {
  const auto header = read_epoch_buffer_header(rest());
  const auto n = header ? header->stored_bytes() : 0;
  if (n > rest().size()) {
    if (!is_final) return Item::pause;
    defect_ = fmt::format("the file ends in the middle of an epoch buffer of {} bytes", n);
    taken_ = rest().size();
    return Item::cut;
  }
  const bool much = rest().size() >= n + kLongestSearch;
  const bool settled = is_final || much || ends_in_trailer(rest());
  return header ? judge_words(static_cast<std::size_t>(n), settled) : judge_gap(much, settled);
}

/// The words of a buffer of `n` bytes are damaged.
FollowedStreamFile::Item FollowedStreamFile::judge_words(std::size_t n, bool settled) {
  const auto after = rest().subspan(n);
  if (!settled && !is_index(after) && !read_epoch_buffer_header(after)) return Item::pause;
  defect_ = "the words of an epoch buffer are damaged";
  taken_ = n;
  return Item::buffer;
}

/// `much`: more of the file may follow even if no buffer is found.
FollowedStreamFile::Item FollowedStreamFile::judge_gap(bool much, bool settled) {
  taken_ = find_buffer(rest());
  const bool more = taken_ != 0 || much;
  if (!more && !settled) return Item::pause;
  if (taken_ == 0) taken_ = much ? rest().size() - sizeof(EpochBufferHeader) : rest().size();
  defect_ = more ? fmt::format("{} bytes are not an epoch buffer and are skipped", taken_)
                 : fmt::format("the file ends in {} bytes that are not an epoch buffer", taken_);
  return more ? Item::gap : Item::cut;
}

std::uint32_t FollowedStreamFile::hits_cut() const {
  const auto header = read_epoch_buffer_header(rest());
  return header ? header->n_hits : 0;
}

/// An index begins with the offset of the first buffer, the trailer of a file without buffers with its magic number.
bool FollowedStreamFile::is_index(std::span<const std::byte> bytes) const {
  const auto first = first_word(bytes);
  return first == header_.first_buffer_offset || first == StreamFileTrailer::kMagic;
}

}  // namespace eventloom
