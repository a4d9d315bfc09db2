#include "io/spikes/spikes_writer.hpp"

#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 20;

SpikeFileHeader header_of(const std::string& path, std::uint64_t tick_ps, std::uint32_t channel_base) {
  try {
    return make_spike_header(tick_ps, channel_base);
  } catch (const std::invalid_argument& e) {
    throw UserError("cannot create '" + path + "': " + e.what());
  }
}

}  // namespace

bool begins_spikes_file(std::span<const std::byte> head) {
  constexpr auto kMagic = SpikeFileHeader::kMagic;
  return head.size() >= sizeof kMagic && std::memcmp(head.data(), &kMagic, sizeof kMagic) == 0;
}

bool is_spikes_file(const std::filesystem::path& file) {
  const auto head = head_of(file, sizeof SpikeFileHeader::kMagic);
  return begins_spikes_file(std::as_bytes(std::span(head)));
}

struct SpikesWriter::File {
  File(std::string name, std::uint32_t base, std::uint32_t packet_entries)
      : path(std::move(name)), partial(path, is_spikes_file), channel_base(base), encoder(packet_entries) {}

  std::string path;
  PartialFile partial;
  std::uint32_t channel_base;
  SpikePacketEncoder encoder;
  std::vector<std::byte> pending;
  SpikesSummary summary;

  void close_packet() {
    if (encoder.empty()) return;
    encoder.close(pending);
    ++summary.packets;
    if (pending.size() >= kPendingBytes) write_pending();
  }
  void write_pending() {
    partial.write(pending);
    summary.bytes += pending.size();
    pending.clear();
  }
};

SpikesWriter::SpikesWriter(std::string path, std::uint64_t tick_ps, std::uint32_t channel_base,
                           std::uint32_t packet_entries) {
  const auto header = header_of(path, tick_ps, channel_base);
  file_ = std::make_unique<File>(std::move(path), channel_base, packet_entries);
  const auto bytes = std::as_bytes(std::span(&header, 1));
  file_->pending.assign(bytes.begin(), bytes.end());
  // Written at once: the header identifies the file as ours.
  file_->write_pending();
}

SpikesWriter::~SpikesWriter() = default;

void SpikesWriter::append(Tick time, std::uint32_t channel) {
  auto& file = *file_;
  auto& summary = file.summary;
  if (channel < file.channel_base || channel - file.channel_base > kMaxSpikeLabel) {
    throw UserError("cannot write '" + file.path + "': channel " + std::to_string(channel) +
                    " is not among the 65536 channels from " + std::to_string(file.channel_base) +
                    " on that a spike file can hold");
  }
  if (summary.spikes != 0 && time < summary.last_tick) {
    throw UserError("cannot write '" + file.path + "': the spike at tick " + std::to_string(time.value) +
                    " comes after one at " + std::to_string(summary.last_tick.value) + "; times must not fall");
  }
  const auto label = static_cast<std::uint16_t>(channel - file.channel_base);
  if (!file.encoder.add(time, label)) {
    file.close_packet();
    file.encoder.add(time, label);
  }
  if (summary.spikes++ == 0) summary.first_tick = time;
  summary.last_tick = time;
}

void SpikesWriter::abandon() { file_->partial.keep(); }

SpikesSummary SpikesWriter::finish() {
  auto& file = *file_;
  file.close_packet();
  file.write_pending();
  file.partial.sync();
  file.partial.publish();
  return file.summary;
}

}  // namespace eventloom
