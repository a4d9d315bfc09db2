#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <span>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/view/convert/convert_target.hpp"
#include "app/view/convert/live_steps.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/epochs/epoch_steps.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/durable.hpp"
#include "io/recorded/unread_columns.hpp"
#include "io/registry/clock_eras.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/unread_columns.hpp"
#include "io/spikes/spikes_writer.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Returns the base name of the source: a file without its extension, a group, or the address of a live source.
std::string short_name(const SourceSpec& spec) {
  const auto& uri = spec.uri;
  if (is_live(uri)) {
    std::string place = uri.path().substr(uri.path().find_first_not_of('/'));
    std::ranges::replace_if(
        place, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '_');
    return place;
  }
  auto group = std::filesystem::path(uri.get("group", "/")).filename().string();
  if (!group.empty()) return group;
  return std::filesystem::path(uri.path()).stem().string();
}

std::string output_path(const std::string& output, bool folder, std::size_t number, const SourceSpec& spec,
                        const char* ending) {
  if (!folder) return output;
  char prefix[32];
  std::snprintf(prefix, sizeof prefix, "%05zu_", number);
  return (std::filesystem::path(output) / (prefix + short_name(spec) + ending)).string();
}

struct Conversion {
  std::string written;        ///< summary of the written file
  std::uint64_t damaged = 0;  ///< ranges of the input that were dropped
  MarkerCounts left_out;      ///< markers that the file cannot hold
};

class Converter {
 public:
  Converter(const OpenedSource& source, const ConvertFormat& format, const std::string& path)
      : source_(*source.stream), live_(source.live), target_(open_target(format, path, source_.header())) {}

  Conversion convert() {
    const auto take = [this](EpochRange epochs) { step(epochs); };
    try {
      if (live_ != nullptr) {
        for_each_live_step(*live_, take);
      } else {
        for_each_step(source_, take);
      }
      auto left_out = target_->left_out();
      left_out.add(other_markers_of_source(source_.counts().counters));
      return {target_->finish(), damaged_ + source_.anomalies(), left_out};
    } catch (const UserError&) {
      if (live_ != nullptr) target_->abandon();  // live data cannot be read again
      throw;
    }
  }

 private:
  /// Writes the buffers that begin in `epochs`. Buffers that only extend into them were written in an earlier step.
  void step(EpochRange epochs) {
    data_.clear();
    source_.collect(epochs, data_);
    for (const auto& damage : data_.damage) {
      damaged_ += epochs.contains(damage.first_epoch) && !wanted(damage.cause) ? 1 : 0;
    }
    for (auto piece : data_.pieces) {
      while (!piece.empty()) {
        const auto header = read_epoch_buffer_header(piece);
        const auto stored = piece.first(header->stored_bytes());
        if (epochs.contains(header->first_epoch)) append(*header, stored);
        piece = piece.subspan(stored.size());
      }
    }
  }

  void append(const EpochBufferHeader& header, std::span<const std::byte> stored) {
    if (words_intact(header, words_of(header, stored))) {
      damaged_ += header.is_loss() ? 1 : 0;
      target_->append(header, stored);
      return;
    }
    ++damaged_;
    log::error("{}: offset {}: the checksum of an epoch buffer is wrong; its {} hits from epoch {} on are dropped",
               source_.name(), header.stream_offset, header.n_hits, header.first_epoch.value);
  }

  Source& source_;
  LiveStream* live_;  ///< the same object if it is live; otherwise null
  std::unique_ptr<ConvertTarget> target_;
  SliceData data_;
  std::uint64_t damaged_ = 0;
};

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Destinations of the output.
struct Outputs {
  std::string folder;              ///< empty: the output path names the file itself
  std::vector<std::string> paths;  ///< one per source
};

Outputs outputs_of(const std::string& output, const std::vector<SourceSpec>& specs, const char* ending) {
  const bool folder = specs.size() > 1 || output.ends_with('/') || is_folder(output);
  Outputs outputs{folder ? output : "", {}};
  for (std::size_t i = 0; i < specs.size(); ++i) {
    outputs.paths.push_back(output_path(output, folder, i, specs[i], ending));
  }
  return outputs;
}

/// For live data, an unfinished recording is the only copy and must be kept.
FilePlan::Existing existing_of(const po::variables_map& values, const SourceSpec& spec) {
  const auto existing = existing_option(values);
  return existing == FilePlan::Existing::keep && is_live(spec.uri) ? FilePlan::Existing::keep_unfinished : existing;
}

/// Creates the folder once all checks have passed.
void check_files(const po::variables_map& values, const std::vector<SourceSpec>& specs, const Outputs& outputs,
                 const ConvertFormat& format) {
  FilePlan plan;
  plan_config(plan, values);
  for (const auto& spec : specs) {
    for (const auto& file : files_of(spec)) plan.read(file, "the source");
  }
  const bool try_out = outputs.folder.empty() || is_folder(outputs.folder);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    plan.write(outputs.paths[i], "--output", format.spikes ? is_spikes_file : is_stream_file,
               existing_of(values, specs[i]), try_out);
  }
  plan.check();
  if (!outputs.folder.empty()) create_folder_durably(outputs.folder);
}

/// Returns whether the file contains all of the input.
bool convert_one(const SourceSpec& spec, SourceId id, SourceOpener& opener, const ConvertFormat& format,
                 const std::string& path) {
  const auto opened = opener.open(spec, id);
  const auto& source = opened.stream;
  if (!spec.defect.empty()) return false;  // already reported; a file would claim that the source has no hits
  if (opened.live != nullptr) begin_live(*opened.live);
  if ((source->header().flags & kSorted) != 0) {
    throw UserError("'" + source->name() + "' holds time-sorted hits of a run; convert the run's sources instead");
  }
  const auto result = Converter(opened, format, path).convert();
  std::cout << path << ": " << result.written << '\n';
  for (const auto& remark : source->remarks()) log::warn("{}: {}", source->name(), remark);
  if (result.damaged != 0) log::error("{}: {} damaged places were dropped", source->name(), result.damaged);
  if (result.left_out.any()) log::error("{}: left out: {}", source->name(), text_of(result.left_out));
  return result.damaged == 0 && !result.left_out.any();
}

void report_unread(std::span<const SourceSpec> specs) {
  std::vector<UnreadColumns> unread;
  const auto columns = unread_columns(specs);
  for (std::size_t s = 0; s < specs.size(); ++s) {
    if (!columns[s].empty()) unread.push_back({specs[s].uri.place(), columns[s]});
  }
  if (const auto message = unread_message(unread); !message.empty()) log::info("{}", message);
}

ConvertFormat format_of(const po::variables_map& values) {
  const auto& name = values["format"].as<std::string>();
  if (name != "epochs" && name != "spikes") {
    throw UserError("--format " + name + " is not known; use epochs or spikes");
  }
  constexpr std::uint64_t kMaxBase = (1U << 28) - 1;
  return {name == "spikes", static_cast<std::uint32_t>(count_option(values, "channel-base", 0, kMaxBase))};
}

void add_convert_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"source", list_value("URI"), "what to convert, repeatable; see 'eventloom run --help'"},
       {"output", text_value("PATH"), "a file for one source, or a folder: then files are called NUMBER_NAME.epochs"},
       {"format", text_value("NAME", "epochs"),
        "epochs, or spikes: compressed pulse packets, for hits without payload"},
       {"channel-base", text_value("ID", "0"), "with --format spikes: the channel of label 0; labels have 16 bits"},
       {"tick", text_value("TIME"), "unit of time (default 1ns)"},
       {"epoch", text_value("TIME"), "length of an epoch (default 10us; 500ns with --tick 1ps)"},
       {"reconnect", text_value("TIME", "", "none"), "how long to search for a lost MBS server"},
       {"force", po::bool_switch(), "overwrite existing files"}});
}

}  // namespace

int convert_command(int argc, const char* const* argv) {
  CommandLine line("convert",
                   "convert URI... --output PATH\nReads any source and writes it as recorded streams (.epochs) or "
                   "spike packets (.spikes).");
  add_convert_options(line.options());
  line.positional("source", -1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("source") == 0) throw UserError("no source given; see 'eventloom convert --help'");
  if (values->count("output") == 0) throw UserError("no output given; use --output PATH");
  const auto& output = (*values)["output"].as<std::string>();
  LiveOptions live;
  live.reconnect_seconds = std::chrono::duration<double>(duration_option(*values, "reconnect")).count();
  SourceOpener opener(time_base_options(*values), live);
  const auto format = format_of(*values);
  auto specs = expand_and_compare((*values)["source"].as<std::vector<std::string>>());
  place_eras_of_clocks(specs, time_base_options(*values));
  const auto outputs = outputs_of(output, specs, format.ending());
  check_files(*values, specs, outputs, format);
  bool whole = true;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    whole = convert_one(specs[i], SourceId{static_cast<std::uint16_t>(i)}, opener, format, outputs.paths[i]) && whole;
  }
  report_unread(specs);
  return whole ? kExitOk : kExitLosses;
}

}  // namespace eventloom
