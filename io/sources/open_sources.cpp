#include "io/sources/open_sources.hpp"

#include <glob.h>

#include <algorithm>

#include "core/runtime/error.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/sources/encoded_stream.hpp"
#include "io/sources/readers.hpp"
#include "io/sources/source_uri.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kReorderHits = 1'000'000;
constexpr std::uint64_t kMaxReorderHits = 1'000'000'000;

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

void expand(const SourceUri& uri, std::vector<SourceSpec>& out) {
  if (uri.scheme() == "gen") {
    out.push_back({uri.text()});
    return;
  }
  for (const auto& path : matching_files(uri.path())) {
    const auto one = uri.with_path(path);
    if (uri.scheme() != "hdf5") {
      out.push_back({one.text()});
      continue;
    }
    for (const auto& group : matching_hdf5_groups(path, uri.get("group", "/"))) {
      out.push_back({one.with("group", group).text()});
    }
  }
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
  return open_generator(uri, id, base);
}

}  // namespace

std::vector<SourceSpec> expand_sources(std::span<const std::string> uris) {
  std::vector<SourceSpec> specs;
  for (const auto& text : uris) expand(SourceUri::parse(text), specs);
  return specs;
}

std::unique_ptr<Source> open_source(const SourceSpec& spec, SourceId id, const TimeBaseOptions& options) {
  const auto uri = SourceUri::parse(spec.uri);
  if (uri.scheme() == "file") return open_epochs(uri, options);
  TimeBase base;
  base.tick_ps = options.tick_ps.value_or(base.tick_ps);
  base.epoch_ticks = options.epoch_ticks.value_or(base.epoch_ticks);
  const auto reorder = uri.get_count("reorder", kReorderHits, 1, kMaxReorderHits);
  return std::make_unique<EncodedStream>(open_reader(uri, id, base), reorder);
}

}  // namespace eventloom
