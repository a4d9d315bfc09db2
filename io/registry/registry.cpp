#include "io/registry/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/compass/compass_reader.hpp"
#include "io/compass/compass_text.hpp"
#include "io/csv/csv_reader.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/inspect_epochs.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/ending.hpp"
#include "io/files/packing.hpp"
#include "io/generator/generator_reader.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5_input/hdf5_reader.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_reader.hpp"
#include "io/hld/inspect_hld.hpp"
#include "io/live/shifted_feed.hpp"
#include "io/lmd/inspect_lmd.hpp"
#include "io/lmd/lmd_header.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "io/mbs/mbs_feed.hpp"
#include "io/midas/midas_event.hpp"
#include "io/midas/midas_reader.hpp"
#include "io/packed/inspect_packed.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/recorded/stored_reader.hpp"
#include "io/run_input/output_reader.hpp"
#include "io/serve/hits_player.hpp"
#include "io/serve/play_lmd.hpp"
#include "io/serve/play_run.hpp"
#include "io/sorted/sorted_source.hpp"
#include "io/spikes/inspect_spikes.hpp"
#include "io/spikes/spikes_reader.hpp"
#include "io/spikes/spikes_writer.hpp"
#include "io/tpx3/tpx3_beginnings.hpp"
#include "io/tpx3/tpx3_packet.hpp"
#include "io/tpx3/tpx3_reader.hpp"
#include "io/trb/trb_feed.hpp"
#include "io/udp/board_stream.hpp"

namespace eventloom {

namespace {

std::unique_ptr<Source> open_epochs(const SourceUri& uri, const TimeBaseOptions& options) {
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

SortedManifest manifest_of_folder(const SourceUri& uri) { return read_sorted_manifest(uri.path()); }

/// A reader of several files in sequence.
using ReadFiles = std::unique_ptr<HitReader> (*)(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                                 const TimeBase& base);
template <ReadFiles kRead>
std::unique_ptr<HitReader> read_files(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return kRead(uri, files_at_path(uri), id, base);
}

std::unique_ptr<EventPlayer> play_epochs(const SourceUri& uri) {
  uri.accept_only({});
  return std::make_unique<HitsPlayer>(std::make_unique<StoredReader>(open_epochs(uri, {})));
}

std::unique_ptr<EventPlayer> play_hld(const SourceUri& uri) {
  uri.accept_only({});
  TimeBase base;
  base.epoch_ticks = kNumbersPerEpoch;
  return std::make_unique<HitsPlayer>(read_files<open_hld>(uri, {}, base));
}

/// Checks the files whose `turns` the user does not state.
void require_placed_tpx3(std::span<const SourceUri> uris) {
  std::vector<std::string> files;
  for (const auto& uri : uris) {
    if (!uri.has("turns")) files.push_back(files_at_path(uri).front());
  }
  require_placed_clocks(files);
}

std::unique_ptr<LiveFeed> listen_to_board(const SourceSpec& spec, const FeedOpening& opening) {
  return shifted(opening.ports.open(spec.uri, spec.board, opening.settings, opening.base), spec.uri);
}

std::unique_ptr<LiveFeed> connect_to_mbs(const SourceSpec& spec, const FeedOpening& opening) {
  return open_mbs(spec.uri, opening.id, opening.base, opening.settings);
}

std::unique_ptr<LiveFeed> listen_to_trb(const SourceSpec& spec, const FeedOpening& opening) {
  return open_trb(spec.uri, opening.id, opening.base, opening.settings);
}

constexpr auto kSchemes = std::to_array<SourceScheme>({
    {.name = "file",
     .form = "file:PATH.epochs",
     .endings = {".epochs"},
     .recognise = begins_stream_file,
     .stream = open_epochs,
     .play = play_epochs,
     .inspect = inspect_epochs},
    {.name = "lmd",
     .form = "lmd:PATH?time=tag|wr|word:OFFSET,COUNT",
     .endings = {".lmd"},
     .keys = kLmdKeys,
     .holds_events = true,
     .list_mode = true,
     .recognise = begins_lmd_file,
     .read = read_files<open_lmd>,
     .play = play_lmd,
     .inspect = inspect_lmd},
    {.name = "hld",
     .form = "hld:PATH[?tdc]",
     .endings = {".hld"},
     .keys = kHldKeys,
     .holds_events = true,
     .trb_events = true,
     .recognise = begins_hld_file,
     .read = read_files<open_hld>,
     .play = play_hld,
     .inspect = inspect_hld},
    {.name = "spikes",
     .form = "spikes:PATH",
     .endings = {".spikes"},
     .keys = kSpikesKeys,
     .recognise = begins_spikes_file,
     .read = open_spikes,
     .inspect = inspect_spikes},
    {.name = "packed",
     .form = "packed:PATH?record=16&time=u64le@0&channel=u16be@8",
     .keys = kPackedKeys,
     .data = data_of_columns,
     .read = open_packed,
     .inspect = inspect_packed},
    {.name = "compass",
     .form = "compass:PATH",
     .keys = kCompassKeys,
     .recognise = begins_compass_file,
     .read = open_compass,
     .inspect = inspect_compass},
    {.name = "tpx3",
     .form = "tpx3:PATH",
     .endings = {".tpx3"},
     .keys = kTpx3Keys,
     .disorder_ps = 1'000'000'000'000,  // chips and the TDC are read out in turn
     .together = require_placed_tpx3,
     .recognise = begins_tpx3_file,
     .read = read_files<open_tpx3>,
     .inspect = inspect_tpx3},
    {.name = "midas",
     .form = "midas:PATH",
     .endings = {".mid"},
     .keys = kMidasKeys,
     .holds_events = true,
     .data = data_of_events,
     .recognise = begins_midas_event,
     .read = read_files<open_midas>,
     .inspect = inspect_midas},
    {.name = "csv",
     .form = "csv:PATH[?time=t_ns&channel=ch]",
     .endings = {".csv", ".tsv"},
     .keys = kCsvKeys,
     .states_origin = true,
     .data = data_of_columns,
     .read = open_csv,
     .inspect = inspect_csv},
    {.name = "hdf5",
     .form = "hdf5:PATH[?group=/dom_*&time=time&channel=channel&unit=ns]",
     .endings = {".h5", ".hdf5"},
     .keys = kHdf5Keys,
     .states_origin = true,
     .adds_offset = true,
     .expand = expand_groups,
     .data = data_of_group,
     .recognise = begins_hdf5_file,
     .read = open_hdf5,
     .play = play_run},
    {.name = "sorted",
     .form = "sorted:DIR",
     .shifts = false,
     .expand = expand_parts,
     .files = files_in_folder,
     .data = data_of_part,
     .stream = open_sorted,
     .manifest = manifest_of_folder},
    {.name = "gen",
     .form = "gen:poisson?rate=1e6",
     .keys = kGeneratorKeys,
     .expand = expand_one,
     .files = no_files,
     .data = data_of_its_own,
     .read = open_generator},
    {.name = "mbs",
     .form = "mbs://HOST[:PORT]/transport|stream[?keys of lmd]",
     .keys = kMbsKeys,
     .holds_events = true,
     .list_mode = true,
     .expand = expand_one,
     .files = no_files,
     .data = data_of_path,
     .feed = connect_to_mbs,
     .most_jump_s = kMostMbsJump_s},
    {.name = "trb",
     .form = "trb://[ADDR]:PORT[,PORT...][?bits=16][&tdc][&optional]",
     .keys = kTrbKeys,
     .holds_events = true,
     .expand = expand_ports,
     .files = no_files,
     .data = data_of_path,
     .feed = listen_to_trb},
    {.name = "udp",
     .form = "udp://[ADDR]:PORT[?sources=3,5][&payload=N]",
     .keys = kUdpKeys,
     .expand = expand_boards,
     .files = no_files,
     .data = data_of_its_own,  // expand_boards() refuses a port given twice
     .feed = listen_to_board,
     .most_jump_s = BoardStream::kMostJump_s},
});

}  // namespace

bool SourceScheme::has_ending(std::string_view path) const {
  path = without_packed_ending(path);
  return std::ranges::any_of(endings,
                             [path](auto ending) { return !ending.empty() && ends_with_any_case(path, ending); });
}

std::vector<SourceKey> SourceScheme::all_keys() const {
  std::vector<SourceKey> all(keys.begin(), keys.end());
  for (const auto& key : kCommonKeys) {
    if (shifts && std::ranges::find(all, key.name, &SourceKey::name) == all.end()) all.push_back(key);
  }
  return all;
}

std::span<const SourceScheme> source_schemes() { return kSchemes; }

const SourceScheme* find_scheme(std::string_view name) {
  const auto found = std::ranges::find(kSchemes, name, &SourceScheme::name);
  return found == kSchemes.end() ? nullptr : &*found;
}

}  // namespace eventloom
