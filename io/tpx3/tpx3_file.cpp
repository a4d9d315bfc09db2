#include "io/tpx3/tpx3_file.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/recorded/file_end.hpp"

namespace eventloom {

namespace {

bool is_hit(Tpx3Packet packet) {
  const auto kind = packet.kind();
  return kind == Tpx3Kind::pixel || kind == Tpx3Kind::integrated || kind == Tpx3Kind::tdc;
}

}  // namespace

Tpx3File::Tpx3File(const std::string& path) : file_(path), defect_log_(path) {
  if (file_.size() == 0 || begins_tpx3_file(file_.front(kTpx3PacketBytes))) return;
  throw UserError("'" + path + "': the file does not begin with a TPX3 chunk");
}

Tpx3File::Item Tpx3File::next() {
  file_.skip(std::exchange(item_bytes_, 0));
  while (!ended_) {
    offset_ = file_.offset();
    const auto bytes = file_.front(kTpx3PacketBytes);
    if (bytes.size() < kTpx3PacketBytes) return finish();
    const Tpx3Packet word(load_tpx3_word(bytes.data()));
    if (left_ != 0 && !(word.kind() == Tpx3Kind::unknown && word.is_header())) {
      --left_;
      packet_ = word;
      item_bytes_ = kTpx3PacketBytes;
      return Item::packet;
    }
    if (!word.begins_chunk()) return search();
    file_.skip(kTpx3PacketBytes);
    chip_ = word.chip();
    const auto missing = std::exchange(left_, word.chunk_packets());
    if (missing == 0) continue;
    return damaged(
        {}, [&] { return fmt::format("a chunk begins {} packets before the end of the previous one", missing); });
  }
  return Item::end;
}

/// Skips data outside chunks byte by byte, as bytes may be missing.
Tpx3File::Item Tpx3File::search() {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  std::uint32_t hits = 0;
  bool found = false;
  while (!found) {
    const auto bytes = file_.front(kStep);
    if (bytes.size() < kTpx3PacketBytes) {
      file_.skip(bytes.size());
      break;
    }
    std::size_t at = 0;
    for (; at + kTpx3PacketBytes <= bytes.size() && !found; ++at) {
      const Tpx3Packet packet(load_tpx3_word(bytes.data() + at));
      found = (at != 0 || file_.offset() != offset_) && packet.begins_chunk();
      const bool whole = (file_.offset() + at - offset_) % kTpx3PacketBytes == 0;
      if (whole && is_hit(packet) && !found) ++hits;
    }
    file_.skip(found ? at - 1 : at);
  }
  left_ = 0;
  return damaged({.hits = hits}, [&] {
    return fmt::format("expected a chunk; {} bytes are skipped, with about {} hits", file_.offset() - offset_, hits);
  });
}

Tpx3File::Item Tpx3File::finish() {
  ended_ = true;
  const bool cut = left_ != 0 || file_.left() != 0;
  auto defect = end_defect(file_, cut ? fmt::format("the file ends {} packets before the end of a chunk", left_) : "");
  if (defect.empty()) return Item::end;
  defect_log_.say(Defect::damage, offset_, [&] { return defect; });
  damage_ = {.hits = left_, .rest = true};
  return Item::damage;
}

template <class Text>
Tpx3File::Item Tpx3File::damaged(Tpx3Damage damage, Text&& text) {
  damage_ = damage;
  ++counters_[Metric::damaged_headers];
  defect_log_.say(Defect::damage, offset_, std::forward<Text>(text));
  return Item::damage;
}

Tpx3Preview Tpx3File::look_ahead() {
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  Tpx3Preview preview(left_);
  const auto bytes = file_.front(kBytes).subspan(item_bytes_);
  for (std::size_t at = 0; at + kTpx3PacketBytes <= bytes.size(); at += kTpx3PacketBytes) {
    if (!preview.take(load_tpx3_word(bytes.data() + at))) break;
  }
  return preview;
}

}  // namespace eventloom
