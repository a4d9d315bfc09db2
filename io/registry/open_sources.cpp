#include "io/registry/open_sources.hpp"

#include <algorithm>
#include <filesystem>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/quiet_log.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/followed_files.hpp"
#include "io/live/encoded_feed.hpp"
#include "io/live/feed_recording.hpp"
#include "io/live/feed_stream.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/encoded_stream.hpp"
#include "io/recorded/jump_reader.hpp"
#include "io/recorded/lost_source.hpp"
#include "io/recorded/number_word.hpp"
#include "io/recorded/parts_check.hpp"
#include "io/recorded/shifted_reader.hpp"
#include "io/recorded/stored_reader.hpp"
#include "io/registry/order_of_times.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/same_source.hpp"
#include "io/registry/source_turns.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {

namespace {

/// A feed may use 1 / kFeedShare of its source's buffer to sort data, and as much for data waiting to be taken.
constexpr std::uint64_t kFeedShare = 8;
constexpr std::uint64_t kMostInFeed = std::uint64_t{32} << 20;

std::unique_ptr<Source> open_lost(const SourceSpec& spec, SourceId id, const TimeBase& base) {
  const auto name = spec.uri.place("/");
  log::error("{}: {}; nothing of this source is read", name, spec.defect);
  return std::make_unique<LostSource>(StreamHeader{id.value, base, {}, spec.uri.text()}, name,
                                      describe_file(spec.uri.path()));
}

/// Whether the URI asks that copies of hits be dropped.
bool is_unique(const SourceUri& uri) {
  const auto value = uri.get("unique", "no");
  if (value == "no") return false;
  if (!value.empty() && value != "yes") uri.refuse("unique=" + value + " is not known; use unique or unique=no");
  return true;
}

/// A reader of hits that will be put in order.
struct UnorderedHits {
  std::unique_ptr<HitReader> reader;
  ReorderLimits reorder;
};

/// Whether times are event numbers, of which none may be before an earlier one. Formats of events judge their numbers
/// themselves.
bool refuses_numbers_that_go_back(const SourceSpec& spec) {
  const auto& uri = spec.uri;
  const bool plain = spec.by_number && uri.get("unit", "") == "tick" && !uri.has("jumps");
  return !scheme_of(uri).holds_events && (holds_event_numbers(uri) || plain) && refuses_disorder_of_numbers(uri);
}

/// Handles jumps in time, and shifts, as the keys of `uri` request.
UnorderedHits prepared(std::unique_ptr<HitReader> reader, const SourceSpec& spec) {
  const auto& uri = spec.uri;
  const auto shift = scheme_of(uri).adds_offset ? uri.with("offset", "0") : uri;
  const bool numbered = holds_event_numbers(uri);
  auto order = numbered ? TimeOrder{.reorder = reorder_of_numbers(uri, kReorderNumbered)}
                        : order_of_times(uri, reader->header().base.tick_ps);
  if (refuses_numbers_that_go_back(spec)) {
    const auto reorder = order.reorder;
    order = order_of_numbers(uri, unwraps_counters(uri));
    order.reorder = reorder;
  } else if (numbered) {
    return {shifted(std::move(reader), shift), order.reorder};
  }
  order.eras = spec.eras;
  auto guarded = std::make_unique<JumpReader>(std::move(reader), order);
  return {shifted(std::move(guarded), shift), order.reorder};
}

/// The time of the first hit in the files; std::nullopt if there is none, or it cannot be read.
std::optional<std::uint64_t> first_time_of(const SourceUri& uri, const TimeBase& base) {
  const QuietLog quiet;
  try {
    const auto reader = scheme_of(uri).read(uri, {0}, base);
    HitBlock block;
    while (reader->read(block)) {
      if (block.size() != 0) return block.time.front().value;
    }
  } catch (const UserError&) {  // its own reader will report that
  }
  return std::nullopt;
}

/// Opens the reader of a recording, whose counter, if any, begins in the turn where it was placed.
std::unique_ptr<HitReader> placed_reader(const SourceSpec& spec, SourceId id, const TimeBase& base) {
  auto reader = scheme_of(spec.uri).read(placed_uri(spec), id, base);
  if (spec.turns != 0 && numbers_events(spec.uri)) {
    const auto by = spec.turns << read_number_place(spec.uri, true).bits;
    const auto raise = SourceUri::of_path(spec.uri.scheme(), spec.uri.path()).with("offset", std::to_string(by));
    return shifted(std::move(reader), raise);
  }
  if (spec.next_first) {
    const auto first = *spec.next_first;
    return std::make_unique<PartsCheck>(std::move(reader), NextPart{"", [first] { return std::optional(first); }});
  }
  if (!spec.next_part || holds_event_numbers(spec.uri)) return reader;
  const auto next = *spec.next_part;
  return std::make_unique<PartsCheck>(
      std::move(reader), NextPart{next.place(), [next, base] { return first_time_of(next, base); }, false});
}

/// Encodes the hits of a file into epoch buffers.
std::unique_ptr<Source> encoded(std::unique_ptr<HitReader> reader, const SourceSpec& spec) {
  auto hits = prepared(std::move(reader), spec);
  return std::make_unique<EncodedStream>(std::move(hits.reader), hits.reorder, std::nullopt, is_unique(spec.uri));
}

/// Likewise for followed files.
std::unique_ptr<LiveFeed> followed(const SourceSpec& spec, const FeedOpening& opening) {
  const auto& scheme = scheme_of(spec.uri);
  if (scheme.follow_stream != nullptr) return scheme.follow_stream(spec, opening);
  const auto files = std::make_shared<FollowedFiles>(spec.uri.path());
  auto hits = prepared(scheme.follow(placed_uri(spec), opening.id, opening.base, files), spec);
  ReaderControl control{.stop = [files] { files->stop(); }, .is_connected = [files] { return !files->stopped(); }};
  return std::make_unique<EncodedFeed>(std::move(hits.reader), std::move(control), hits.reorder,
                                       opening.settings.buffer_bytes, LiveReading{.as_recorded = true});
}

/// Encodes the hits of a stream into new epoch buffers if the keys of `uri` request shifts, or that copies be dropped.
std::unique_ptr<Source> changed_stream(std::unique_ptr<Source> stream, const SourceUri& uri) {
  const StreamShift shift(uri, stream->header());
  const bool unique = is_unique(uri);
  if (!shift.any() && !unique) return stream;
  auto reader = std::make_unique<StoredReader>(std::move(stream));
  return std::make_unique<EncodedStream>(std::make_unique<ShiftedReader>(std::move(reader), shift), ReorderLimits{},
                                         std::nullopt, unique);
}

void require_together(std::span<const SourceSpec> specs) {
  for (const auto& scheme : source_schemes()) {
    if (scheme.together == nullptr) continue;
    std::vector<SourceUri> uris;
    for (const auto& spec : specs) {
      if (spec.uri.scheme() == scheme.name) uris.push_back(spec.uri);
    }
    scheme.together(uris);
  }
}

/// Whether neither name nor contents say what a file is: it may be a later file of a split run.
bool is_unknown_file(const std::string& text) {
  std::error_code error;
  return std::filesystem::is_regular_file(text, error) && scheme_of_file(text) == nullptr;
}

/// Whether two files that one URI names may be parts of a recording, though it does not say how their counter turns.
bool may_continue(const SourceSpec& spec, const SourceSpec& next) {
  const auto& scheme = scheme_of(spec.uri);
  return spec.given == next.given && scheme.read != nullptr && unwraps_counters(spec.uri) && !spec.uri.has("follow") &&
         spec.uri.path() != next.uri.path() && spec.defect.empty() && next.defect.empty() &&
         !ClockTurns::are_stated(spec.uri) && !ClockTurns::are_denied(spec.uri);
}

std::vector<SourceSpec> expand(std::span<const std::string> uris, SameSource& same) {
  auto specs = expand_uris(uris).specs;
  for (const auto& spec : specs) {
    const bool readable = spec.defect.empty();
    same.take(spec.uri, readable ? scheme_of(spec.uri).data(spec.uri) : std::vector<UsedData>());
  }
  for (std::size_t s = 0; s < specs.size(); ++s) {
    if (specs[s].board == 0) specs[s].home = static_cast<std::uint32_t>(s);
    if (s + 1 < specs.size() && may_continue(specs[s], specs[s + 1])) specs[s].next_part = specs[s + 1].uri;
  }
  return specs;
}

}  // namespace

ExpandedUris expand_uris(std::span<const std::string> uris) {
  ExpandedUris all;
  std::vector<std::size_t> unknown;
  for (const auto& text : uris) {
    const auto first = all.specs.size();
    if (uris.size() > 1 && is_unknown_file(text)) {
      unknown.push_back(first);
      all.specs.push_back({SourceUri::of_path("compass", text)});
    } else {
      const auto uri = parse_source_uri(text);
      scheme_of(uri).expand(uri, all.specs);
    }
    for (auto s = first; s < all.specs.size(); ++s) all.specs[s].given = all.ends.size();
    all.ends.push_back(all.specs.size());
  }
  if (uris.size() > 1) join_segments(all.specs);
  for (const auto s : unknown) {
    if (!all.specs[s].uri.has("header")) (void)parse_source_uri(all.specs[s].uri.path());  // refuses it
  }
  return all;
}

std::vector<SourceSpec> expand_sources(std::span<const std::string> uris) {
  SameSource same;
  return expand(uris, same);
}

/// Copies are marked, not refused: each may be converted alone, and copies without data do no harm.
std::vector<SourceSpec> expand_and_compare(std::span<const std::string> uris, std::span<const std::string> before) {
  SameSource same;
  auto specs = expand(uris, same);
  require_together(specs);
  place_turns(specs, before);
  const auto copies = same.copies();
  for (std::size_t s = 0; s < specs.size(); ++s) specs[s].copy = copies[s];
  return specs;
}

std::vector<PlayedFile> expand_played(std::span<const std::string> uris) {
  std::vector<SourceSpec> specs;
  for (const auto& text : uris) {
    const auto uri = parse_source_uri(text);
    if (scheme_of(uri).play == nullptr) {
      throw UserError("'" + text + "' cannot be played; name a file of " + list_schemes([](const SourceScheme& known) {
                        return known.play == nullptr ? "" : std::string(known.name) + ":";
                      }) +
                      " or convert it to .epochs first");
    }
    // A recording is a whole HDF5 file, not one of its groups.
    expand_files(uri, specs);
  }
  SameSource same;
  std::vector<PlayedFile> files;
  for (const auto& spec : specs) {
    same.take(spec.uri, data_of_files(spec.uri));
    files.push_back({spec.uri, scheme_of(spec.uri).play});
  }
  for (const auto& copy : same.copies()) {
    if (!copy.empty()) throw UserError(copy);
  }
  return files;
}

std::vector<std::string> files_of(const SourceSpec& spec) { return scheme_of(spec.uri).files(spec.uri); }

bool is_live(const SourceUri& uri) { return scheme_of(uri).is_live() || is_followed(uri); }

bool is_followed(const SourceUri& uri) { return uri.has("follow"); }

bool is_acknowledged(const SourceUri& uri) { return uri.has(kAcknowledge.name); }

std::optional<SortedManifest> sorted_manifest(const SourceUri& uri) {
  const auto manifest = scheme_of(uri).manifest;
  if (manifest == nullptr) return std::nullopt;
  return manifest(uri);
}

OpenedSource SourceOpener::open(const SourceSpec& spec, SourceId id) {
  const auto& uri = spec.uri;
  const auto& scheme = scheme_of(uri);
  if (is_live(uri)) {
    if (is_unique(uri)) uri.refuse("unique is not valid for live sources");
    auto stream = open_live(spec, id);
    auto* const live = stream.get();
    return {std::move(stream), live};
  }
  if (scheme.stream != nullptr) return {changed_stream(scheme.stream(uri, base_), uri)};
  const auto base = base_of(uri);
  if (!spec.defect.empty()) return {open_lost(spec, id, base)};
  return {encoded(placed_reader(spec, id, base), spec)};
}

TimeBase SourceOpener::base_of(const SourceUri& uri) const { return time_base_of(base_, holds_event_numbers(uri)); }

LiveInputSettings SourceOpener::input_settings() const {
  LiveInputSettings input;
  input.buffer_bytes = std::min(live_.buffer_bytes / kFeedShare, kMostInFeed);
  input.reconnect_seconds = live_.reconnect_seconds;
  input.waits_for_peers = live_.waits_for_peers;
  return input;
}

std::unique_ptr<LiveFeed> SourceOpener::open_feed(const SourceSpec& spec, SourceId id) {
  const FeedOpening opening{id, base_of(spec.uri), base_, input_settings(), ports_};
  return is_followed(spec.uri) ? followed(spec, opening) : scheme_of(spec.uri).feed(spec, opening);
}

std::unique_ptr<LiveStream> SourceOpener::open_live(const SourceSpec& spec, SourceId id) {
  FeedStream::Settings settings;
  settings.buffer_bytes = live_.buffer_bytes - 2 * input_settings().buffer_bytes;
  settings.drop_when_full = live_.drop_when_full;
  if (!live_.record.empty()) settings.record = new_recording(live_.record, id, live_.keep_recordings);
  settings.most_jump_s = scheme_of(spec.uri).most_jump_s;
  const auto open = [&] { return open_feed(spec, id); };
  return std::make_unique<FeedStream>(shelf_ == nullptr ? open() : shelf_->lease(id, open), std::move(settings));
}

}  // namespace eventloom
