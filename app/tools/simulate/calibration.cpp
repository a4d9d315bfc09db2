#include "app/tools/simulate/calibration.hpp"

#include <cstring>
#include <memory>
#include <span>

#include "app/command/options.hpp"
#include "app/command/temporary_folder.hpp"
#include "app/run/run_definition.hpp"
#include "app/tools/send/generate_recording.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/log.hpp"
#include "io/epochs/epochs_source.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kSources = 16;
constexpr double kSeconds = 0.5;
constexpr TimeBase kBase{};

/// Half of the hits belong to events of 8, the others are noise: 160 hits per epoch, 13 MB in total.
GenerateSettings recording(const std::string& folder) {
  constexpr std::uint64_t kSlices = 100;
  GenerateSettings settings;
  settings.output = folder;
  settings.sources = kSources;
  settings.rate = 1'000'000;
  settings.noise = 500'000;
  settings.width = 20;
  settings.base = kBase;
  settings.epochs_per_buffer = 10;
  settings.duration = SliceGeometry{}.slice_ticks() * kSlices;
  return settings;
}

double cpu_seconds() { return in_seconds(time_of(CLOCK_THREAD_CPUTIME_ID)); }

/// The streams of a recording, read slice by slice.
class Streams {
 public:
  Streams(const GenerateSettings& settings, const SliceGeometry& geometry) : geometry_(geometry) {
    for (std::uint32_t s = 0; s < settings.sources; ++s) {
      sources_.push_back(std::make_unique<EpochsSource>(stream_path(settings, s)));
    }
    slices_ = settings.duration / geometry.slice_ticks();
  }
  [[nodiscard]] std::uint64_t slices() const { return slices_; }

  /// Appends the data of a slice, one element per source, and releases those of earlier slices.
  void collect(SliceId slice, std::vector<SliceData>& out) {
    const auto epochs = geometry_.sent_epochs(slice);
    for (auto& source : sources_) {
      source->release_before(epochs.begin);
      source->collect(epochs, out.emplace_back());
    }
  }

 private:
  SliceGeometry geometry_;
  std::vector<std::unique_ptr<EpochsSource>> sources_;
  std::uint64_t slices_ = 0;
};

/// A slice as its builder has received it: the buffers of each source are contiguous.
struct Received {
  explicit Received(const std::vector<SliceData>& data) {
    for (const auto& of_source : data) {
      auto& buffers = memory.emplace_back();
      for (const auto piece : of_source.pieces) {
        const auto at = buffers.size();
        buffers.resize(at + piece.size() / 8);
        std::memcpy(buffers.data() + at, piece.data(), piece.size());
      }
    }
    for (const auto& buffers : memory) {
      sources.push_back({{std::as_bytes(std::span(buffers))}, {}});
      bytes += buffers.size() * 8;
    }
  }
  std::vector<std::vector<std::uint64_t>> memory;
  std::vector<SourceSlice> sources;
  std::uint64_t bytes = 0;
};

/// Calls `pass`, which returns the number of bytes processed, until `seconds` of CPU time are used.
template <class Pass>
double bytes_per_second(double seconds, const Pass& pass) {
  double used = 0;
  double bytes = 0;
  while (used < seconds) {
    const double begun = cpu_seconds();
    bytes += static_cast<double>(pass());
    used += cpu_seconds() - begun;
  }
  return bytes / used;
}

double source_rate(const GenerateSettings& settings, const SliceGeometry& geometry, double seconds) {
  // Slices can be read once, so each pass reopens the files.
  return bytes_per_second(seconds, [&] {
    Streams streams(settings, geometry);
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < streams.slices(); ++i) {
      std::vector<SliceData> slice;
      streams.collect({i}, slice);
      for (const auto& data : slice) {
        for (const auto piece : data.pieces) bytes += piece.size();
      }
    }
    return bytes;
  });
}

double build_rate(const GenerateSettings& recorded, const SliceBuilderSettings& building, double seconds) {
  Streams streams(recorded, building.geometry);
  std::vector<Received> slices;
  for (std::uint64_t i = 0; i < streams.slices(); ++i) {
    std::vector<SliceData> data;
    streams.collect({i}, data);
    slices.emplace_back(data);
  }
  SliceBuilder builder(building);
  std::vector<BuiltSlice> built;
  std::vector<BuildProblem> problems;
  return bytes_per_second(seconds, [&] {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < slices.size(); ++i) {
      builder.build({i}, slices[i].sources, built, problems);
      bytes += slices[i].bytes;
    }
    return bytes;
  });
}

}  // namespace

EventDefinitionPtr calibrated_definition(const boost::program_options::variables_map& values) {
  const auto& text = values["calibrate"].as<std::string>();
  if (text.empty()) return nullptr;
  try {
    return parse_event_definition(text, kBase.tick_ps);
  } catch (const UserError& e) {
    throw UserError("--calibrate: " + std::string(e.what()));
  }
}

Calibration measure_rates(const EventDefinitionPtr& definition, double seconds) {
  SliceBuilderSettings building;
  building.events = {{definition, default_overlap(*definition, kBase)}};
  building.geometry = widest({.base = kBase}, building.events);
  building.payload.resize(kSources);
  const TemporaryFolder folder("calibrate");
  const auto recorded = recording(folder.path().string());
  generate(recorded);
  return {build_rate(recorded, building, seconds), source_rate(recorded, building.geometry, seconds)};
}

std::optional<Calibration> calibrate(const boost::program_options::variables_map& values,
                                     std::vector<SimulationSettings>& points) {
  const auto definition = calibrated_definition(values);
  if (!definition) return std::nullopt;
  const auto measured = measure_rates(definition, kSeconds);
  log::info("measured on one core here: a builder takes {:.3f} ns a byte ({:.2f} GB/s), a source {:.3f} ({:.2f})",
            1e9 / measured.build_rate, measured.build_rate * 1e-9, 1e9 / measured.source_rate,
            measured.source_rate * 1e-9);
  for (auto& point : points) {
    point.build_rate = measured.build_rate;
    point.source_rate = measured.source_rate;
  }
  return measured;
}

Json to_json(const Calibration& measured) {
  return {{"build_rate_bytes_per_us", measured.build_rate * 1e-6},
          {"source_rate_bytes_per_us", measured.source_rate * 1e-6}};
}

}  // namespace eventloom
