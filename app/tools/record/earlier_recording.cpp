#include "app/tools/record/earlier_recording.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>

#include "app/tools/record/record_state.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/epochs/mapped_file.hpp"
#include "io/epochs/stream_layout.hpp"
#include "io/epochs/stream_scan.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

struct FileContents {
  std::uint64_t hits = 0;
  Epoch end = 0;  ///< one past the last epoch
};

/// Cuts the file and appends its index. On a full disk the file stays without one, as those of a dead recorder do: its
/// successor records and waits for room.
void replace_end(const std::filesystem::path& path, std::uint64_t end, std::span<const std::byte> bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  bool done = file.is_open() && ::ftruncate(file.number(), static_cast<off_t>(end)) == 0;
  for (auto at = end; done && !bytes.empty();) {
    const ssize_t n = ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    done = n > 0;
    bytes = bytes.subspan(done ? static_cast<std::size_t>(n) : 0);
    at += done ? static_cast<std::uint64_t>(n) : 0;
  }
  if (done) return;
  const int error = errno;
  if (!means_full(error) || ::ftruncate(file.number(), static_cast<off_t>(end)) != 0) {
    throw UserError("cannot complete '" + path.string() + "': " + std::strerror(error));
  }
  log::warn("'{}' stays without its index: {}", path.string(), std::strerror(error));
}

/// The whole, intact epoch buffers from `begin` on, in `layout`. Returns their end in the file.
std::uint64_t intact_part(std::span<const std::byte> file, std::uint64_t begin, StreamLayout& layout) {
  std::vector<std::byte> copy;
  for (;;) {
    const auto rest = file.subspan(begin);
    const auto header = read_epoch_buffer_header(rest);
    const bool whole = header && header->stored_bytes() <= rest.size() && header->sequence == layout.buffers();
    if (!whole || !words_intact(*header, words_of(*header, rest))) return begin;
    copy.clear();
    layout.place(rest.first(header->stored_bytes()), copy);
    begin += header->stored_bytes();
  }
}

FileContents contents_of(const StreamScan& scan) {
  return {scan.hits, scan.entries.empty() ? Epoch(0) : scan.entries.back().epochs().end};
}

/// Completes a file without an index; `decoded` is its header.
FileContents complete(const std::filesystem::path& path, const DecodedStreamHeader& decoded) {
  StreamLayout layout(decoded.header);
  std::vector<std::byte> bytes;
  layout.begin(bytes);
  std::uint64_t end = 0;
  std::uint64_t cut = 0;
  {
    const MappedFile file(path.string());
    end = intact_part(file.bytes(), decoded.first_buffer_offset, layout);
    cut = file.bytes().size() - end;
    const auto scan = scan_stream(file.bytes(), decoded.first_buffer_offset, decoded.header.base);
    if (scan.entries.size() > layout.buffers()) {
      log::error("'{}' is damaged at offset {}: it stays as it is", path.string(), end);
      return contents_of(scan);
    }
  }
  bytes.clear();
  layout.end(bytes);
  replace_end(path, end, bytes);
  log::warn("'{}' was not finished: {} epoch buffers are whole, {} bytes of an incomplete one were cut off",
            path.string(), layout.buffers(), cut);
  return {layout.hits(), layout.end_epoch()};
}

/// std::nullopt when the file has no data: a recorder died while it wrote the header.
std::optional<FileContents> contents_of(const std::filesystem::path& path) {
  DecodedStreamHeader decoded;
  {
    const MappedFile file(path.string());
    bool damaged = false;
    if (const auto index = find_index(file.bytes(), damaged)) {
      const auto& entries = index->entries;
      return FileContents{index->trailer.n_hits, entries.empty() ? Epoch(0) : entries.back().epochs().end};
    }
    try {
      decoded = decode_stream_header(file.bytes());
    } catch (const std::runtime_error& error) {
      const auto scan = scan_stream(file.bytes(), 0, TimeBase{});
      if (scan.entries.empty()) return std::nullopt;
      log::error("'{}' is damaged: {}: it stays as it is", path.string(), error.what());
      return contents_of(scan);
    }
  }
  return complete(path, decoded);
}

/// The files of a source that Eventloom has written, in the order of their numbers. `next`: the first free number.
std::vector<RecordedFile> files_of_source(const RecordNames& names, std::uint32_t source, std::uint64_t& next) {
  std::vector<RecordedFile> files;
  for (const auto& path : entries_in(names.folder())) {
    const auto number = names.number_of(path);
    if (!number) continue;
    next = std::max(next, *number + 1);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const bool empty = std::filesystem::file_size(path, error) == 0;
    if (empty || is_stream_file(path)) files.push_back({source, *number, path, 0, 0});
  }
  std::ranges::sort(files, {}, &RecordedFile::number);
  return files;
}

std::optional<StreamHeader> header_of(const std::filesystem::path& path) {
  try {
    return decode_stream_header(MappedFile(path.string()).bytes()).header;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

/// Determines where the files and the state end.
LivePast past_of(const std::vector<RecordedFile>& files, Epoch end, const std::optional<RecordState>& state) {
  LivePast past;
  past.end = end;
  if (!state) return past;
  past.end = std::max(end, state->end_before);
  past.none_finished = past.end == 0;
  past.hits = state->hits_before + state->left_out;
  const bool newest_is_there = !files.empty() && files.back().number == state->number;
  if (newest_is_there) past.hits += files.back().hits;
  const bool later = !files.empty() && files.back().number > state->number;
  if (!later) past.place = state->place;
  return past;
}

}  // namespace

EarlierRecording take_up(const RecordNames& names, std::uint32_t source, const std::string& uri) {
  EarlierRecording earlier;
  const auto state = read_record_state(names.state());
  if (state && state->uri != uri) {
    throw UserError("'" + names.stem() + ".*' are recordings of '" + state->uri + "', not of '" + uri +
                    "'; name the same URIs in the same order, or choose another --output");
  }
  Epoch end = 0;
  for (auto& file : files_of_source(names, source, earlier.next_number)) {
    const auto contents = contents_of(file.path);
    if (!contents) {
      log::warn("'{}' has no data, and is removed", file.path.string());
      std::filesystem::remove(file.path);
      continue;
    }
    end = std::max(end, contents->end);
    file.hits = contents->hits;
    file.bytes = std::filesystem::file_size(file.path);
    earlier.files.push_back(file);
  }
  if (!earlier.files.empty()) earlier.header = header_of(earlier.files.back().path);
  if (state) {
    earlier.next_number = std::max(earlier.next_number, state->number);
    earlier.left_out = state->left_out;
  }
  // A recorder that ended, and had heard nothing, has missed nothing that belongs to a recording.
  const bool ended_unheard = state && earlier.files.empty() && state->end_before == 0 && is_there(names.end_mark());
  if ((state && !ended_unheard) || !earlier.files.empty()) earlier.past = past_of(earlier.files, end, state);
  return earlier;
}

}  // namespace eventloom
