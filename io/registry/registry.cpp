#include "io/registry/registry.hpp"

#include <algorithm>

#include "core/runtime/error.hpp"
#include "io/csv/csv_reader.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/inspect_epochs.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/generator/generator_reader.hpp"
#include "io/hdf5/hdf5_reader.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_reader.hpp"
#include "io/hld/inspect_hld.hpp"
#include "io/lmd/inspect_lmd.hpp"
#include "io/lmd/lmd_header.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "io/mbs/mbs_feed.hpp"
#include "io/packed/inspect_packed.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/sorted/sorted_source.hpp"
#include "io/spikes/inspect_spikes.hpp"
#include "io/spikes/spikes_reader.hpp"
#include "io/spikes/spikes_writer.hpp"
#include "io/udp/board_stream.hpp"

namespace eventloom {

namespace {

std::unique_ptr<Source> open_epochs(const SourceUri& uri, const TimeBaseOptions& options) {
  uri.accept_only({});
  auto source = std::make_unique<EpochsSource>(uri.path());
  const auto& base = source->header().base;
  if (options.tick_ps.value_or(base.tick_ps) != base.tick_ps ||
      options.epoch_ticks.value_or(base.epoch_ticks) != base.epoch_ticks) {
    throw UserError("'" + uri.path() + "' was recorded with ticks of " + std::to_string(base.tick_ps) +
                    " ps and epochs of " + std::to_string(base.epoch_ticks) +
                    " ticks; omit --tick and --epoch, or give these values");
  }
  return source;
}

std::unique_ptr<Source> open_sorted(const SourceUri& uri, const TimeBaseOptions& /*options*/) {
  constexpr std::uint64_t kMostParts = 1U << 20;
  return std::make_unique<SortedSource>(uri.path(), uri.get_count("part", 0, 0, kMostParts));
}

/// A reader of several files in sequence.
using ReadFiles = std::unique_ptr<HitReader> (*)(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                                 const TimeBase& base);
template <ReadFiles kRead>
std::unique_ptr<HitReader> read_files(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return kRead(uri, files_at_path(uri), id, base);
}

std::unique_ptr<LiveFeed> listen_to_board(const SourceSpec& spec, const FeedOpening& opening) {
  return opening.ports.open(spec.uri, spec.board, opening.settings, opening.base);
}

std::unique_ptr<LiveFeed> connect_to_mbs(const SourceSpec& spec, const FeedOpening& opening) {
  return open_mbs(spec.uri, opening.id, opening.base, opening.settings);
}

constexpr auto kSchemes = std::to_array<SourceScheme>({
    {.name = "file",
     .form = "file:PATH.epochs",
     .ending = ".epochs",
     .recognise = is_stream_file,
     .stream = open_epochs,
     .inspect = inspect_epochs},
    {.name = "lmd",
     .form = "lmd:PATH?time=tag|wr|word:OFFSET,COUNT",
     .ending = ".lmd",
     .flags = {"concat"},
     .holds_events = true,
     .recognise = is_lmd_file,
     .read = read_files<open_lmd>,
     .inspect = inspect_lmd},
    {.name = "hld",
     .form = "hld:PATH[?tdc]",
     .ending = ".hld",
     .flags = {"concat", "tdc"},
     .holds_events = true,
     .recognise = is_hld_file,
     .read = read_files<open_hld>,
     .inspect = inspect_hld},
    {.name = "spikes",
     .form = "spikes:PATH",
     .ending = ".spikes",
     .recognise = is_spikes_file,
     .read = open_spikes,
     .inspect = inspect_spikes},
    {.name = "packed",
     .form = "packed:PATH?record=16&time=u64le@0&channel=u16be@8",
     .data = data_of_columns,
     .read = open_packed,
     .inspect = inspect_packed},
    {.name = "csv", .form = "csv:PATH?time=1&channel=2&unit=ns", .data = data_of_columns, .read = open_csv},
    {.name = "hdf5",
     .form = "hdf5:PATH?group=/dom_*&time=time&channel=channel&unit=ns",
     .expand = expand_groups,
     .data = data_of_group,
     .read = open_hdf5},
    {.name = "sorted",
     .form = "sorted:DIR",
     .expand = expand_parts,
     .files = files_in_folder,
     .data = data_of_part,
     .stream = open_sorted},
    {.name = "gen",
     .form = "gen:poisson?rate=1e6",
     .expand = expand_one,
     .files = no_files,
     .data = data_of_its_own,
     .read = open_generator},
    {.name = "mbs",
     .form = "mbs://HOST[:PORT]/transport|stream[?keys of lmd]",
     .holds_events = true,
     .expand = expand_one,
     .files = no_files,
     .data = data_of_path,
     .feed = connect_to_mbs,
     .most_jump_s = kMostMbsJump_s},
    {.name = "udp",
     .form = "udp://[ADDR]:PORT[?sources=3,5][&payload=N]",
     .expand = expand_boards,
     .files = no_files,
     .data = data_of_its_own,  // expand_boards() refuses a port that is given twice
     .feed = listen_to_board,
     .most_jump_s = BoardStream::kMostJump_s},
});

bool is_flag(std::string_view key) {
  return std::ranges::any_of(kSchemes, [key](const SourceScheme& scheme) {
    return std::ranges::find(scheme.flags, key) != scheme.flags.end();
  });
}

}  // namespace

std::span<const SourceScheme> source_schemes() { return kSchemes; }

const SourceScheme* find_scheme(std::string_view name) {
  const auto found = std::ranges::find(kSchemes, name, &SourceScheme::name);
  return found == kSchemes.end() ? nullptr : &*found;
}

const SourceScheme& scheme_of(const SourceUri& uri) {
  const auto* scheme = find_scheme(uri.scheme());
  if (scheme != nullptr) return *scheme;
  uri.refuse("unknown scheme; this build reads " +
             list_schemes([](const SourceScheme& known) { return std::string(known.name) + ":"; }));
}

SourceUri parse_source_uri(const std::string& text) {
  auto uri = SourceUri::parse(text);
  if (uri.scheme().empty()) {
    const auto by_ending = std::ranges::find_if(kSchemes, [&uri](const SourceScheme& scheme) {
      return !scheme.ending.empty() && uri.path().ends_with(scheme.ending);
    });
    if (by_ending != kSchemes.end()) uri = uri.with_scheme(by_ending->name);
  }
  const auto& scheme = scheme_of(uri);
  if (uri.path().empty()) {
    throw UserError("source '" + text + "': nothing follows '" + std::string(scheme.name) + ":'");
  }
  for (const auto& key : uri.flags()) {
    if (!is_flag(key)) throw UserError("source '" + text + "': '" + key + "' is not of the form key=value");
  }
  return uri;
}

}  // namespace eventloom
