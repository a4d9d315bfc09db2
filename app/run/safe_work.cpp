#include "app/run/safe_work.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>

#include "core/dataflow/live_stream.hpp"
#include "core/runtime/error.hpp"
#include "io/files/folder.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/run_format/part_list.hpp"

namespace eventloom {

namespace {

constexpr std::chrono::seconds kBetweenLooks{2};

/// Number of parts in a list; unlimited if it cannot be read, so that none of its slices counts as safe.
std::size_t parts_in(const std::filesystem::path& list) {
  try {
    return is_there(list) ? read_part_list(list).parts.size() : 0;
  } catch (const UserError&) {
    return std::numeric_limits<std::size_t>::max();
  }
}

}  // namespace

SafeWork::SafeWork(const OutputSettings& output, const RunSetup& setup, Session& session, bool looks)
    : session_(session),
      acknowledges_(std::ranges::any_of(
          setup.streams, [](const SourceInfo& s) { return s.followed && is_acknowledged(parse_source_uri(s.uri)); })),
      looks_(looks) {
  if (!acknowledges_ || !looks_) return;
  for (const auto& run : output.runs) {
    const std::filesystem::path file(run.file);
    for (std::uint32_t writer = 0; writer < setup.roles.writers(); ++writer) {
      const auto path = file.parent_path() / part_list_name(file, writer);
      lists_.push_back({.path = path, .earlier = parts_in(path), .end = setup.first_slice});
    }
  }
}

void SafeWork::turn(SteadyTime now) {
  if (!acknowledges_ || !looks_ || now < next_look_) return;
  next_look_ = now + kBetweenLooks;
  try {
    session_.control().set_safe(first_unsafe());
  } catch (const UserError&) {
    return;  // the next attempt may succeed
  }
}

/// Reads a list if it has grown.
void SafeWork::look(List& list) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(list.path, error);
  if (error || bytes == list.bytes) return;
  const auto parts = read_part_list(list.path).parts;
  if (parts.size() > list.earlier && parts.back().info.slices != 0)
    list.end = SliceId{parts.back().info.last_slice + 1};
  list.bytes = bytes;
}

/// Each writer finishes its slices in ascending order, and slices without data have no writer: all slices before the
/// end of the least advanced writer are on disk.
SliceId SafeWork::first_unsafe() {
  SliceId first = kNoSlice;
  for (auto& list : lists_) {
    look(list);
    first = std::min(first, list.end);
  }
  return first;
}

void SafeWork::end(int code) {
  const bool safe = code == kExitOk || code == kExitLosses;
  auto* const sources = session_.sources();
  if (!acknowledges_ || !safe || sources == nullptr) return;
  sources->safe_before(session_.control().end_slice().value_or(kNoSlice));
}

}  // namespace eventloom
