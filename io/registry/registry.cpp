#include "io/registry/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/compass/compass_reader.hpp"
#include "io/compass/compass_segments.hpp"
#include "io/compass/compass_text.hpp"
#include "io/compass/inspect_compass.hpp"
#include "io/csv/csv_columns.hpp"
#include "io/csv/csv_reader.hpp"
#include "io/csv/inspect_csv.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/inspect_epochs.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/ending.hpp"
#include "io/files/packing.hpp"
#include "io/generator/generator_reader.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5_input/hdf5_reader.hpp"
#include "io/hdf5_input/inspect_hdf5.hpp"
#include "io/hdf5_input/unread_hdf5.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_reader.hpp"
#include "io/hld/inspect_hld.hpp"
#include "io/live/followed_epochs.hpp"
#include "io/live/shifted_feed.hpp"
#include "io/lmd/inspect_lmd.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_header.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "io/mbs/mbs_feed.hpp"
#include "io/midas/midas_event.hpp"
#include "io/midas/midas_file.hpp"
#include "io/midas/midas_reader.hpp"
#include "io/packed/inspect_packed.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/followed_reader.hpp"
#include "io/recorded/joined_reader.hpp"
#include "io/recorded/stamp_clock.hpp"
#include "io/recorded/stored_reader.hpp"
#include "io/recorded/time_pair.hpp"
#include "io/run_input/output_reader.hpp"
#include "io/serve/hits_player.hpp"
#include "io/serve/play_lmd.hpp"
#include "io/serve/play_run.hpp"
#include "io/sorted/sorted_source.hpp"
#include "io/spikes/inspect_spikes.hpp"
#include "io/spikes/spikes_reader.hpp"
#include "io/spikes/spikes_writer.hpp"
#include "io/tpx3/inspect_tpx3.hpp"
#include "io/tpx3/tpx3_beginnings.hpp"
#include "io/tpx3/tpx3_packet.hpp"
#include "io/tpx3/tpx3_reader.hpp"
#include "io/trb/trb_feed.hpp"
#include "io/udp/board_position.hpp"

namespace eventloom {

namespace {

void require_base(const SourceUri& uri, const TimeBase& base, const TimeBaseOptions& options) {
  if (options.tick_ps.value_or(base.tick_ps) != base.tick_ps ||
      options.epoch_ticks.value_or(base.epoch_ticks) != base.epoch_ticks) {
    throw UserError("'" + uri.path() + "' was recorded with ticks of " + std::to_string(base.tick_ps) +
                    " ps and epochs of " + std::to_string(base.epoch_ticks) +
                    " ticks; omit --tick and --epoch, or give these values");
  }
}

std::unique_ptr<Source> open_epochs(const SourceUri& uri, const TimeBaseOptions& options) {
  auto source = std::make_unique<EpochsSource>(uri.path());
  require_base(uri, source->header().base, options);
  return source;
}

std::unique_ptr<LiveFeed> follow_epochs(const SourceSpec& spec, const FeedOpening& opening) {
  auto files = std::make_shared<FollowedFiles>(spec.uri.path());
  const auto first = await_first_file(*files, has_stream_header);
  auto feed = std::make_unique<FollowedEpochs>(first, std::move(files), opening.settings.buffer_bytes,
                                               spec.uri.has(kAcknowledge.name));
  require_base(spec.uri, feed->header().base, opening.base_options);
  return shifted(std::move(feed), spec.uri);
}

std::unique_ptr<Source> open_sorted(const SourceUri& uri, const TimeBaseOptions& /*options*/) {
  constexpr std::uint64_t kMostParts = 1U << 20;
  return std::make_unique<SortedSource>(uri.path(), uri.get_count("part", 0, 0, kMostParts));
}

SortedManifest manifest_of_folder(const SourceUri& uri) { return read_sorted_manifest(uri.path()); }

/// A reader of several files in sequence, which may be followed.
using ReadFiles = std::unique_ptr<HitReader> (*)(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                                 const TimeBase& base, Followed followed);
template <ReadFiles kRead>
std::unique_ptr<HitReader> read_files(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return kRead(uri, files_at_path(uri), id, base, nullptr);
}
template <ReadFiles kRead, class File>
std::unique_ptr<HitReader> follow_files(const SourceUri& uri, SourceId id, const TimeBase& base,
                                        const Followed& files) {
  const auto first = await_first_file(*files, File::can_open);
  auto reader = kRead(uri, std::span(&first, 1), id, base, files);
  return std::make_unique<FollowedReader>(std::move(reader), files, first, std::nullopt);
}

std::unique_ptr<HitReader> read_tpx3(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return open_tpx3(uri, files_at_path(uri), id, base);
}

/// A reader of one file; several, with the key `concat`, are read one after the other.
using ReadFile = std::unique_ptr<HitReader> (*)(const SourceUri& uri, SourceId id, const TimeBase& base);
std::unique_ptr<HitReader> joined(const SourceUri& uri, std::vector<SourceUri> files, const JoinedReader::Open& open) {
  if (!uri.has("concat")) return open(uri);
  const auto name = uri.place();
  return std::make_unique<JoinedReader>(name, std::move(files), open);
}
template <ReadFile kRead>
std::unique_ptr<HitReader> read_joined(const SourceUri& uri, SourceId id, const TimeBase& base) {
  std::vector<SourceUri> files;
  for (const auto& path : files_at_path(uri)) files.push_back(uri.with_path(path));
  return joined(uri, std::move(files), [=](const SourceUri& file) { return kRead(file, id, base); });
}

std::unique_ptr<HitReader> read_csv(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return open_csv(uri, id, base);
}
std::unique_ptr<HitReader> read_compass(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return joined(uri, compass_segments(uri, files_at_path(uri)),
                [=](const SourceUri& file) { return open_compass(file, id, base); });
}

std::unique_ptr<HitReader> follow_one_by_one(const Followed& files, const FileOpening& opening) {
  const auto first = await_first_file(*files, opening.can_open);
  return std::make_unique<FollowedReader>(opening.open(first), files, first, opening);
}

std::unique_ptr<HitReader> follow_csv(const SourceUri& uri, SourceId id, const TimeBase& base, const Followed& files) {
  return follow_one_by_one(
      files, {.can_open = [uri](const std::string& path) { return can_open_csv(uri.with_path(path)); },
              .open = [=](const std::string& path) { return open_csv(uri.with_path(path), id, base, files); }});
}

std::vector<std::vector<std::string>> unread_in_tables(std::span<const SourceUri> uris) {
  std::vector<std::vector<std::string>> unread;
  for (const auto& uri : uris) {
    auto& names = unread.emplace_back();
    for (const auto& file : files_at_path(uri)) {
      for (const auto& name : find_columns(with_time_pair(uri.with_path(file))).unread) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
      if (uri.has("follow")) break;  // later files may not be complete
    }
  }
  return unread;
}

/// The URI of one of the files of a split run, with the header of the first. Those that are not there yet do not count.
SourceUri segment_at(const SourceUri& uri, const std::string& path) {
  auto files = found_files(uri.path());
  std::erase_if(files, [&](const auto& file) { return file != path && !can_open_compass(file); });
  for (auto& segment : compass_segments(uri, files)) {
    if (segment.path() == path) return segment;
  }
  return uri.with_path(path);
}

std::unique_ptr<HitReader> follow_compass(const SourceUri& uri, SourceId id, const TimeBase& base,
                                          const Followed& files) {
  return follow_one_by_one(files, {.can_open = can_open_compass, .open = [=](const std::string& path) {
                                     return open_compass(segment_at(uri, path), id, base, files);
                                   }});
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

/// Checks the files whose `turns` the user does not state. Those of one stated clock are placed by its turns.
void require_placed_tpx3(std::span<const SourceUri> uris) {
  std::vector<std::string> files;
  std::set<std::string> clocks;
  for (const auto& uri : uris) {
    if (uri.has("turns")) continue;
    files.push_back(files_at_path(uri).front());
    clocks.insert(uri.get("clock", ""));
  }
  const bool one_clock = clocks.size() == 1 && !clocks.begin()->empty();
  if (one_clock && std::ranges::all_of(files, [](const auto& file) { return tpx3_beginning(file).has_value(); }))
    return;
  require_placed_clocks(files);
}

/// Whether the times are event numbers that wrap around soon.
bool counts_events(const SourceUri& uri) {
  return uri.get("time", "tag") == "tag" && (uri.has("bits") || uri.has("number"));
}

/// Whether event numbers, or else the epoch counter of TDCs, make the times.
bool counts_epochs(const SourceUri& uri) { return counts_events(uri) || uri.get("time", "") == "tdc"; }

/// Whether event numbers, or else a counter in the data, make the times.
bool counts_in_data(const SourceUri& uri) {
  return counts_events(uri) || (StampClock::makes_times(uri) && ClockTurns::are_stated(uri));
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
     .follow_stream = follow_epochs,
     .play = play_epochs,
     .inspect = inspect_epochs},
    {.name = "lmd",
     .form = "lmd:PATH?time=tag|wr|word:OFFSET,COUNT",
     .endings = {".lmd"},
     .keys = kLmdKeys,
     .holds_events = true,
     .list_mode = true,
     .turns = counts_in_data,
     .recognise = begins_lmd_file,
     .read = read_files<open_lmd>,
     .follow = follow_files<open_lmd, LmdFile>,
     .play = play_lmd,
     .inspect = inspect_lmd},
    {.name = "hld",
     .form = "hld:PATH[?tdc]",
     .endings = {".hld"},
     .keys = kHldKeys,
     .holds_events = true,
     .trb_events = true,
     .turns = counts_epochs,
     .one_clock = true,
     .recognise = begins_hld_file,
     .read = read_files<open_hld>,
     .follow = follow_files<open_hld, HldFile>,
     .play = play_hld,
     .inspect = inspect_hld},
    {.name = "spikes",
     .form = "spikes:PATH",
     .endings = {".spikes"},
     .keys = kSpikesKeys,
     .turns = ClockTurns::are_stated,
     .recognise = begins_spikes_file,
     .read = read_joined<open_spikes>,
     .inspect = inspect_spikes},
    {.name = "packed",
     .form = "packed:PATH?record=16&time=u64le@0&channel=u16be@8",
     .keys = kPackedKeys,
     .data = data_of_columns,
     .turns = ClockTurns::are_stated,
     .read = read_joined<open_packed>,
     .inspect = inspect_packed},
    {.name = "compass",
     .form = "compass:PATH",
     .keys = kCompassKeys,
     .expand = expand_segments,
     .turns = ClockTurns::are_stated,
     .recognise = begins_compass_file,
     .read = read_compass,
     .follow = follow_compass,
     .suitable_tick_ps = 1,
     .inspect = inspect_compass},
    {.name = "tpx3",
     .form = "tpx3:PATH",
     .endings = {".tpx3"},
     .keys = kTpx3Keys,
     .disorder_ps = 1'000'000'000'000,  // chips and the TDC are read out in turn
     .together = require_placed_tpx3,
     .turns = [](const SourceUri& uri) { return uri.has("clock"); },
     .begins = tpx3_beginning,
     .begins_below = kTpx3PixelPeriod,
     .recognise = begins_tpx3_file,
     .read = read_tpx3,
     .suitable_tick_ps = 1,
     .inspect = inspect_tpx3},
    {.name = "midas",
     .form = "midas:PATH",
     .endings = {".mid"},
     .keys = kMidasKeys,
     .holds_events = true,
     .data = data_of_events,
     .turns = counts_in_data,
     .recognise = begins_midas_event,
     .read = read_files<open_midas>,
     .follow = follow_files<open_midas, MidasFile>,
     .inspect = inspect_midas},
    {.name = "csv",
     .form = "csv:PATH[?time=t_ns&channel=ch]",
     .endings = {".csv", ".tsv"},
     .keys = kCsvKeys,
     .states_origin = true,
     .data = data_of_columns,
     .turns = ClockTurns::are_stated,
     .read = read_joined<read_csv>,
     .follow = follow_csv,
     .unread = unread_in_tables,
     .inspect = inspect_csv},
    {.name = "hdf5",
     .form = "hdf5:PATH[?group=/dom_*&time=time&channel=channel&unit=ns]",
     .endings = {".h5", ".hdf5"},
     .keys = kHdf5Keys,
     .states_origin = true,
     .adds_offset = true,
     .expand = expand_groups,
     .data = data_of_group,
     .turns = ClockTurns::are_stated,
     .recognise = begins_hdf5_file,
     .read = read_joined<open_hdf5>,
     .play = play_run,
     .unread = unread_hdf5,
     .inspect = inspect_hdf5},
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
     .most_jump_s = BoardPosition::kMostJump_s},
});

}  // namespace

bool SourceScheme::has_ending(std::string_view path) const {
  path = without_packed_ending(path);
  return std::ranges::any_of(endings,
                             [path](auto ending) { return !ending.empty() && ends_with_any_case(path, ending); });
}

std::vector<SourceKey> SourceScheme::all_keys() const {
  std::vector<SourceKey> all(keys.begin(), keys.end());
  if (can_follow()) all.push_back(kFollow);
  if (follow_stream != nullptr) all.push_back(kAcknowledge);
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
