#include "io/sources/open_sources.hpp"

#include <glob.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/runtime/error.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/hdf5/group_search.hpp"
#include "io/hld/hld_reader.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/sorted/sorted_source.hpp"
#include "io/sources/default_epoch.hpp"
#include "io/sources/encoded_stream.hpp"
#include "io/sources/file_checksum.hpp"
#include "io/sources/lost_source.hpp"
#include "io/sources/readers.hpp"
#include "io/sources/same_source.hpp"
#include "io/spikes/spikes_reader.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMaxSortedParts = 1U << 20;

bool has_wildcard(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

/// Files that `pattern` names, in the order of their names' bytes.
std::vector<std::string> matching_files(const std::string& pattern) {
  if (!has_wildcard(pattern)) return {pattern};
  glob_t found{};
  const int status = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (paths.empty()) throw UserError("no file matches '" + pattern + "'");
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Boards at one port are told apart by their numbers, and received together.
void expand_boards(const SourceUri& uri, std::vector<SourceSpec>& out) {
  const auto same_port = [&](const SourceSpec& spec) {
    return spec.uri.scheme() == "udp" && spec.uri.path() == uri.path();
  };
  if (std::ranges::any_of(out, same_port)) {
    throw UserError("source '" + uri.text() +
                    "': there is another source at this port; name all its boards in one: " + "?sources=3,5,9");
  }
  const auto boards = uri.get("sources", "");
  const auto n = static_cast<std::uint32_t>(1 + std::ranges::count(boards, ','));
  const auto home = static_cast<std::uint32_t>(out.size());
  for (std::uint32_t board = 0; board < n; ++board) out.push_back({uri, home, board});
}

/// A group that is damaged stays a source among the others.
void expand_groups(const SourceUri& uri, std::vector<SourceSpec>& out) {
  const auto pattern = uri.get("group", "/");
  const auto groups = find_groups(uri.path(), pattern, hdf5_columns(uri));
  if (groups.empty()) throw UserError("'" + uri.path() + "': no group matches '" + pattern + "'");
  if (std::ranges::none_of(groups, [](const FoundGroup& group) { return group.defect.empty(); })) {
    throw UserError("cannot read '" + uri.path() + ":" + groups.front().path + "': " + groups.front().defect);
  }
  for (const auto& group : groups) {
    out.push_back({uri.with("group", group.path)});
    out.back().defect = group.defect;
  }
}

void expand(const SourceUri& uri, std::vector<SourceSpec>& out) {
  if (uri.scheme() == "udp") return expand_boards(uri, out);
  if (uri.scheme() == "gen" || uri.scheme() == "mbs" || uri.has("concat")) {
    out.push_back({uri});
    return;
  }
  if (uri.scheme() == "sorted") {
    uri.accept_only({});
    const auto parts = read_sorted_manifest(uri.path()).files.size();
    for (std::size_t part = 0; part < parts; ++part) out.push_back({uri.with("part", std::to_string(part))});
    return;
  }
  for (const auto& path : matching_files(uri.path())) {
    const auto one = uri.with_path(path);
    if (uri.scheme() != "hdf5") {
      out.push_back({one});
      continue;
    }
    expand_groups(one, out);
  }
}

/// The files that make up one source.
std::vector<std::string> files_of(const SourceUri& uri) {
  return uri.has("concat") ? matching_files(uri.path()) : std::vector{uri.path()};
}

std::unique_ptr<Source> open_epochs(const SourceUri& uri, const TimeBaseOptions& options) {
  uri.accept_only({});
  auto source = std::make_unique<EpochsSource>(uri.path());
  const auto& base = source->header().base;
  if (options.tick_ps.value_or(base.tick_ps) != base.tick_ps ||
      options.epoch_ticks.value_or(base.epoch_ticks) != base.epoch_ticks) {
    throw UserError("'" + uri.path() + "' was recorded with ticks of " + std::to_string(base.tick_ps) +
                    " ps and epochs of " + std::to_string(base.epoch_ticks) +
                    " ticks; leave out --tick and --epoch or give these");
  }
  return source;
}

std::unique_ptr<HitReader> open_reader(const SourceUri& uri, SourceId id, const TimeBase& base) {
  if (uri.scheme() == "csv") return open_csv(uri, id, base);
  if (uri.scheme() == "hdf5") return open_hdf5(uri, id, base);
  if (uri.scheme() == "lmd") return open_lmd(uri, files_of(uri), id, base);
  if (uri.scheme() == "hld") return open_hld(uri, files_of(uri), id, base);
  if (uri.scheme() == "spikes") return open_spikes(uri, id, base);
  if (uri.scheme() == "packed") return open_packed(uri, id, base);
  return open_generator(uri, id, base);
}

std::unique_ptr<Source> open_lost(const SourceSpec& spec, SourceId id, const TimeBase& base) {
  const auto name = spec.uri.path() + ":" + spec.uri.get("group", "/");
  spdlog::error("{}: {}; nothing of this source is read", name, spec.defect);
  return std::make_unique<LostSource>(StreamHeader{id.value, base, {}, spec.uri.text()}, name,
                                      describe_file(spec.uri.path()));
}

bool holds_events(const SourceUri& uri) {
  return uri.scheme() == "lmd" || uri.scheme() == "hld" || uri.scheme() == "mbs";
}

/// Whether times are event numbers.
bool is_numbered(const SourceUri& uri) {
  return holds_events(uri) ? uri.get("time", "tag") == "tag" : uri.get("numbered", "no") == "yes";
}

std::uint64_t reorder_of(const SourceUri& uri) {
  const auto stamped = holds_events(uri) ? kReorderStamped : kReorderHits;
  return uri.get_count("reorder", is_numbered(uri) ? kReorderNumbered : stamped, 1, kMaxReorderHits);
}

}  // namespace

std::vector<SourceSpec> expand_sources(std::span<const std::string> uris) {
  std::vector<SourceSpec> specs;
  for (const auto& text : uris) expand(SourceUri::parse(text), specs);
  SameSource same;
  for (const auto& spec : specs) {
    if (spec.defect.empty()) same.take(spec.uri, files_of(spec.uri));
  }
  for (std::size_t s = 0; s < specs.size(); ++s) {
    if (specs[s].board == 0) specs[s].home = static_cast<std::uint32_t>(s);
  }
  return specs;
}

std::vector<std::string> files_of(const SourceSpec& spec) {
  const auto& uri = spec.uri;
  if (uri.scheme() == "gen" || is_live(uri)) return {};
  if (uri.scheme() != "sorted") return files_of(uri);
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(uri.path(), error)) files.push_back(entry.path());
  return files;
}

std::unique_ptr<Source> SourceOpener::open(const SourceSpec& spec, SourceId id) {
  const auto& uri = spec.uri;
  if (uri.scheme() == "file") return open_epochs(uri, base_);
  if (uri.scheme() == "sorted") {
    return std::make_unique<SortedSource>(uri.path(), uri.get_count("part", 0, 0, kMaxSortedParts));
  }
  TimeBase base;
  base.tick_ps = base_.tick_ps.value_or(base.tick_ps);
  base.epoch_ticks =
      base_.epoch_ticks.value_or(is_numbered(uri) ? kNumbersPerEpoch : default_epoch_ticks(base.tick_ps));
  if (!spec.defect.empty()) return open_lost(spec, id, base);
  if (is_live(uri)) return live_.open(uri, spec.board, id, base);
  return std::make_unique<EncodedStream>(open_reader(uri, id, base), reorder_of(uri));
}

}  // namespace eventloom
