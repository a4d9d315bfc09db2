// Recorded formats from the page cache, one core: file to epoch buffers, or to hits for spikes and packed
// records. Beside them what reading the file takes by itself. Files of 256 MiB are made
// in the folder for temporary files (TMPDIR) and removed at the end.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file_reader.hpp"
#include "io/files/followed_files.hpp"
#include "io/live/followed_epochs.hpp"
#include "io/packed/packed_reader.hpp"
#include "io/registry/open_sources.hpp"
#include "io/spikes/spikes_reader.hpp"
#include "io/spikes/spikes_writer.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{256} << 20;
constexpr std::uint32_t kEventBytes = 1024;

class Files {
 public:
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("eventloom-formats-" + std::to_string(getpid()));
};

class WordFile {
 public:
  explicit WordFile(const std::string& path) : out_(path, std::ios::binary) {}
  void put(std::initializer_list<std::uint32_t> words) {
    for (const auto word : words) out_.write(reinterpret_cast<const char*>(&word), sizeof word);
  }
  void fill(std::uint32_t words) {
    for (std::uint32_t i = 0; i < words; ++i) put({i * 2654435761U});
  }

 private:
  std::ofstream out_;
};

/// 101/1, little-endian; three subevents an event (formats/lmd.hpp).
void write_lmd(const std::string& path) {
  constexpr std::uint32_t kData = 81;  // words
  WordFile file(path);
  file.put({0x7ffffff4, 0x00010065, 0, 0, 0xffffffff, 8, 0, 0, 1, 1, 0, 0});
  for (std::uint32_t number = 1; number <= kFileBytes / kEventBytes; ++number) {
    file.put({(kEventBytes - 8) / 2, 0x0001000a, 1U << 16, number});
    for (std::uint32_t id = 1; id <= 3; ++id) {
      file.put({2 + kData * 2, 0x0001000a, id << 24 | id});
      file.fill(kData);
    }
  }
}

/// Two big-endian subevents an event, as DABC writes them.
void write_hld(const std::string& path) {
  constexpr std::uint32_t kData = 120;  // words
  WordFile file(path);
  file.put({32, 0x00030001, 0x00010002, 0, 0, 0, 1, 0});
  for (std::uint32_t number = 1; number <= kFileBytes / kEventBytes; ++number) {
    file.put({kEventBytes, 0x00030001, 0x2001, number, 0, 0, 1, 0});
    for (std::uint32_t id = 0x8000; id < 0x8002; ++id) {
      file.put({__builtin_bswap32(16 + kData * 4), __builtin_bswap32(0x00020011), __builtin_bswap32(id),
                __builtin_bswap32(number << 8)});
      file.fill(kData);
    }
  }
  file.put({32, 0x00030001, 0x00010003, 0, 0, 0, 1, 0});
}

void write_spikes(const std::string& path) {
  SpikesWriter writer(path, 1000, 0);
  Tick time = 0;
  for (std::uint32_t i = 0; i < kFileBytes / 4; ++i) {
    time += Tick(i % 97);
    writer.append(time, i * 2654435761U >> 16);
  }
  writer.finish();
}

void write_packed(const std::string& path) {
  WordFile file(path);
  for (std::uint32_t i = 0; i < kFileBytes / 16; ++i) file.put({i * 10, 0, i & 0xff, i});
}

const Files& files() {
  static const Files made;
  return made;
}

/// The file, made when it is first asked for.
template <class Write>
std::string file_of(const char* name, Write write) {
  const auto path = files().path(name);
  if (!std::filesystem::exists(path)) write(path);
  return path;
}

void count_bytes(benchmark::State& state, const std::string& path) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * std::filesystem::file_size(path)));
}

/// As a source rank reads: slice by slice, forgetting what is sent.
void to_epoch_buffers(benchmark::State& state, const std::string& path, const std::string& scheme) {
  constexpr Epoch kStep = 100;
  for (auto run : state) {
    static_cast<void>(run);
    const auto source = open_source({SourceUri::parse(scheme + ":" + path)}, {0}, {});
    SliceData data;
    for (Epoch at = source->first_epoch().value_or(0); !source->end_epoch() || at < *source->end_epoch(); at += kStep) {
      data.clear();
      source->collect({at, at + kStep}, data);
      benchmark::DoNotOptimize(data.pieces.data());
      source->release_before(at + kStep);
    }
    if (source->anomalies() != 0) state.SkipWithError("the file was not read whole");
  }
  count_bytes(state, path);
}

using Open = std::unique_ptr<HitReader> (*)(const SourceUri&, SourceId, const TimeBase&);

void to_hits(benchmark::State& state, const std::string& path, Open open, const std::string& uri) {
  std::uint64_t hits = 0;
  for (auto run : state) {
    static_cast<void>(run);
    const auto reader = open(SourceUri::parse(uri), {0}, {});
    HitBlock block;
    while (reader->read(block)) hits += block.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(hits));
  count_bytes(state, path);
}

void lmd_to_epoch_buffers(benchmark::State& state) { to_epoch_buffers(state, file_of("a.lmd", write_lmd), "lmd"); }
void hld_to_epoch_buffers(benchmark::State& state) { to_epoch_buffers(state, file_of("a.hld", write_hld), "hld"); }

void spikes_to_hits(benchmark::State& state) {
  const auto path = file_of("a.spikes", write_spikes);
  to_hits(state, path, open_spikes, "spikes:" + path);
}
void packed_to_hits(benchmark::State& state) {
  const auto path = file_of("a.packed", write_packed);
  to_hits(state, path, open_packed, "packed:" + path + "?record=16&time=u64le@0&channel=u32le@8&payload=u32le@12");
}

void file_alone(benchmark::State& state) {
  const auto path = file_of("a.lmd", write_lmd);
  for (auto run : state) {
    static_cast<void>(run);
    FileReader window(path);
    while (window.left() != 0) window.skip(window.front(1).size());
  }
  count_bytes(state, path);
}

/// Appends bytes as another program would, with one system call.
void append(const std::string& path, std::span<const std::byte> bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (::write(file.number(), bytes.data(), bytes.size()) < 0) throw std::runtime_error("cannot write " + path);
}

/// From the append of an epoch buffer until the source that follows the file has it; median in ms.
void follow_epochs(benchmark::State& state) {
  const Files files;
  const auto path = files.path("run.epochs");
  const StreamHeader header{.source = 0, .base = {}, .payload = {}, .text = "", .flags = 0};
  const auto beginning = encode_stream_header(header);
  append(path, beginning);
  FollowedEpochs feed(path, std::make_shared<FollowedFiles>(path), std::size_t{1} << 20, false);
  EpochBufferEncoder encoder(0, header.base.epoch_ticks, beginning.size(), {.epochs_per_buffer = 1});
  std::vector<double> waits_ms;
  Tick time = 0;
  for (auto run : state) {
    static_cast<void>(run);
    time += Tick(header.base.epoch_ticks);
    encoder.add(time, 1, {});
    std::vector<std::byte> stored;
    encoder.close(stored);
    const auto begin = std::chrono::steady_clock::now();
    append(path, stored);
    FeedBatch batch;
    for (feed.take(batch); batch.buffers.empty(); feed.take(batch)) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    waits_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(waits_ms, waits_ms.begin() + static_cast<std::ptrdiff_t>(waits_ms.size() / 2));
  state.counters["median_ms"] = waits_ms[waits_ms.size() / 2];
}

BENCHMARK(follow_epochs)->UseRealTime();
BENCHMARK(file_alone)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(lmd_to_epoch_buffers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(hld_to_epoch_buffers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(spikes_to_hits)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(packed_to_hits)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace eventloom

BENCHMARK_MAIN();
