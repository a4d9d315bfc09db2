#include "io/sorted/sorted_source.hpp"

#include <algorithm>
#include <span>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw UserError("'" + path + "' is not the stream that the folder's manifest lists (" + reason +
                  "): write the folder again with --save-sorted");
}

}  // namespace

SortedSource::SortedSource(const std::filesystem::path& folder, std::size_t part)
    : manifest_(read_sorted_manifest(folder)), first_(part == 0) {
  if (part >= manifest_.files.size()) {
    throw UserError("'" + folder.string() + "' has no stream number " + std::to_string(part));
  }
  const auto& file = manifest_.files[part];
  const auto path = folder / sorted_file_name(file.builder);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes != file.bytes) refuse(path.string(), error ? error.message() : "its size differs");
  stream_ = std::make_unique<EpochsSource>(path.string());
  if (stream_->input().crc32c != file.crc32c || stream_->hits_read() != file.hits) {
    refuse(path.string(), "its index differs");
  }
}

std::optional<Epoch> SortedSource::first_epoch() {
  auto first = stream_->first_epoch();
  if (!first_ || manifest_.damage.empty()) return first;
  const Epoch damaged = manifest_.damage.front().first_epoch;
  return first ? std::min(*first, damaged) : damaged;
}

std::optional<Epoch> SortedSource::end_epoch() const { return first_ ? manifest_.end_epoch() : stream_->end_epoch(); }

void SortedSource::collect(EpochRange epochs, SliceData& out) {
  const std::size_t before = out.damage.size();
  stream_->collect(epochs, out);
  for (auto& damage : std::span(out.damage).subspan(before)) damage.origin = kAllOrigins;
  if (!first_) return;
  for (const auto& damage : manifest_.damage) {
    if (epochs_of(damage).overlaps(epochs)) out.damage.push_back(damage);
  }
}

std::optional<Epoch> SortedSource::next_beginning(Epoch from) {
  const auto next = stream_->next_beginning(from);
  const auto lost = std::ranges::lower_bound(manifest_.damage, from, {}, &Damage::first_epoch);
  if (!first_ || lost == manifest_.damage.end()) return next;
  return std::min(next.value_or(lost->first_epoch), lost->first_epoch);
}

std::optional<Damage> SortedSource::tail_damage() const {
  auto tail = stream_->tail_damage();
  if (tail) tail->origin = kAllOrigins;
  return tail;
}

std::uint64_t SortedSource::hits_read() const {
  std::uint64_t hits = stream_->hits_read();
  if (first_) {
    for (const auto& damage : manifest_.damage) hits += damage.n_hits;
  }
  return hits;
}

std::uint64_t SortedSource::anomalies() const { return stream_->anomalies() + (first_ ? manifest_.anomalies : 0); }

}  // namespace eventloom
