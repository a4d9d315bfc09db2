#include "app/tools/record/kept_files.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

void KeptFiles::add(RecordedFile file, bool counted) {
  if (!counted) bytes_ += file.bytes;
  complete_.push_back(std::move(file));
}

void KeptFiles::grow(std::uint64_t bytes) {
  while (most_bytes_ != 0 && bytes_ + bytes > most_bytes_ && !complete_.empty()) {
    const auto oldest = std::move(complete_.front());
    complete_.pop_front();
    if (!remove(oldest, lost_)) continue;
    log::warn("--keep: removed '{}', not acknowledged: {} hits are lost, {} in all", oldest.path.string(), oldest.hits,
              lost_.hits);
  }
  bytes_ += bytes;
}

void KeptFiles::acknowledge(std::uint32_t source, std::uint64_t first_needed) {
  const auto begin = std::stable_partition(complete_.begin(), complete_.end(), [&](const RecordedFile& file) {
    return file.source != source || file.number >= first_needed;
  });
  for (auto file = begin; file != complete_.end(); ++file) remove(*file, acknowledged_);
  complete_.erase(begin, complete_.end());
}

bool KeptFiles::remove(const RecordedFile& file, Removed& account) {
  bytes_ -= std::min(bytes_, file.bytes);
  try {
    remove_own(file.path, is_stream_file);
  } catch (const UserError& error) {
    log::warn("{}", error.what());
    return false;
  }
  ++account.files;
  account.bytes += file.bytes;
  account.hits += file.hits;
  return true;
}

std::optional<std::uint64_t> read_acknowledgement(const std::filesystem::path& file, std::string& trouble) {
  constexpr std::size_t kLongest = 64;
  auto text = head_of(file, kLongest);
  if (text.empty()) return std::nullopt;
  text.erase(std::min(text.find_first_of("\r\n"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  trouble = "'" + file.string() + "' must hold one number, that of the first file that is still needed; it is ignored";
  return std::nullopt;
}

}  // namespace eventloom
