#include "app/tools/bench/containers.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

#include "app/tools/bench/bench_run.hpp"
#include "core/dataflow/decode.hpp"
#include "core/definitions/definitions.hpp"
#include "formats/spikes.hpp"
#include "io/generator/point_process.hpp"
#include "io/spikes/spikes_writer.hpp"

namespace eventloom {

namespace {

/// Hits in columns.
struct SpikeColumns {
  std::vector<Tick> time;
  std::vector<std::uint32_t> channel;
  friend bool operator==(const SpikeColumns&, const SpikeColumns&) = default;
};

using Bytes = std::vector<std::byte>;

SpikeColumns poisson_hits(std::uint64_t hits, Tick distance) {
  RandomEngine engine(1);
  PointProcess process("poisson", static_cast<double>(distance.value));
  SpikeColumns columns;
  for (std::uint64_t i = 0; i < hits; ++i) {
    columns.time.push_back(process.next(engine));
    columns.channel.push_back(uniform_below(engine, kMaxSpikeLabel + 1));
  }
  return columns;
}

/// `each`: a packet holds one spike.
Bytes encode_packets(const SpikeColumns& hits, bool each) {
  SpikePacketEncoder encoder(SpikesWriter::kPacketEntries);
  Bytes bytes;
  for (std::size_t i = 0; i < hits.time.size(); ++i) {
    const auto label = static_cast<std::uint16_t>(hits.channel[i]);
    if (!encoder.add(hits.time[i], label)) {
      encoder.close(bytes);
      encoder.add(hits.time[i], label);
    }
    if (each) encoder.close(bytes);
  }
  if (!encoder.empty()) encoder.close(bytes);
  return bytes;
}

SpikeColumns decode_packets(std::span<const std::byte> bytes, std::size_t hits) {
  SpikeColumns columns{std::vector<Tick>(hits + kMaxPacketEntries),
                       std::vector<std::uint32_t>(hits + kMaxPacketEntries)};
  std::size_t n = 0;
  while (!bytes.empty()) {
    const auto header = read_packet_header(bytes);
    if (!header) throw std::logic_error("a spike packet has no header");
    const auto entries = bytes.subspan(sizeof *header);
    if (!entries_intact(*header, entries) || !decode_spikes(*header, entries, 0, std::span(columns.time).subspan(n),
                                                            std::span(columns.channel).subspan(n))) {
      throw std::logic_error("a spike packet is damaged");
    }
    n += header->n_spikes;
    bytes = entries.subspan(header->entries_bytes());
  }
  columns.time.resize(n);
  columns.channel.resize(n);
  return columns;
}

Bytes encode_epochs(const SpikeColumns& hits) {
  EpochBufferEncoder encoder(0, TimeBase().epoch_ticks, 0, {});
  Bytes bytes;
  for (std::size_t i = 0; i < hits.time.size(); ++i) {
    if (encoder.must_close_before(hits.time[i])) encoder.close(bytes);
    encoder.add(hits.time[i], hits.channel[i], {});
  }
  encoder.close(bytes);
  return bytes;
}

/// Reads all buffers as one slice.
class EpochsDecoder {
 public:
  explicit EpochsDecoder(Tick last)
      : settings_{{TimeBase(), last.value / TimeBase().epoch_ticks + 1, 0}, {}, {PayloadTable()}, false},
        decoder_(settings_) {}

  const DecodedHits& decode(std::span<const std::byte> bytes) {
    const SourceSlice source{{bytes}, {}};
    decoder_.decode({0}, {&source, 1}, problems_);
    if (!problems_.empty()) throw std::logic_error("an epoch buffer is damaged: " + problems_.front().reason);
    return decoder_.hits();
  }

 private:
  SliceBuilderSettings settings_;
  SliceDecoder decoder_;
  std::vector<BuildProblem> problems_;
};

SpikeColumns columns_of(const DecodedHits& hits) {
  SpikeColumns columns;
  for (std::uint32_t i = 0; i < hits.size; ++i) {
    columns.time.emplace_back(hits.tick_of_hit(i));
    columns.channel.push_back(hits.channel.data()[i]);
  }
  return columns;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// `encode` and `decode` leave their results where `check` finds them.
ContainerCost cost_of(std::string name, std::size_t hits, int repeat, const std::function<Bytes()>& encode,
                      const std::function<void(const Bytes&)>& decode, const std::function<bool()>& check) {
  ContainerCost cost{std::move(name), 0, 0, 0};
  std::vector<double> encoding;
  std::vector<double> decoding;
  const double ns_per_hit = 1e9 / static_cast<double>(hits);
  for (int i = 0; i < repeat; ++i) {
    Bytes bytes;
    encoding.push_back(ns_per_hit * seconds_of([&] { bytes = encode(); }));
    decoding.push_back(ns_per_hit * seconds_of([&] { decode(bytes); }));
    if (!check()) throw std::logic_error(cost.name + ": the decoded hits are not those encoded");
    cost.bytes = bytes.size();
  }
  cost.encode_ns = median(std::move(encoding));
  cost.decode_ns = median(std::move(decoding));
  return cost;
}

}  // namespace

std::vector<ContainerCost> measure_containers(std::uint64_t hits, Tick distance, int repeat) {
  const auto given = poisson_hits(hits, distance);
  SpikeColumns found;
  const auto decode = [&](const Bytes& bytes) { found = decode_packets(bytes, given.time.size()); };
  const auto same = [&] { return found == given; };
  std::vector<ContainerCost> costs;
  for (const bool each : {true, false}) {
    costs.push_back(cost_of(
        each ? "a spike each" : "packed spikes", hits, repeat, [&] { return encode_packets(given, each); }, decode,
        same));
  }
  EpochsDecoder decoder(given.time.back());
  const DecodedHits* columns = nullptr;
  costs.push_back(cost_of(
      ".epochs", hits, repeat, [&] { return encode_epochs(given); },
      [&](const Bytes& bytes) { columns = &decoder.decode(bytes); }, [&] { return columns_of(*columns) == given; }));
  return costs;
}

}  // namespace eventloom
