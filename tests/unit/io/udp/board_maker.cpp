#include "board_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace eventloom::test {

Bytes BoardMaker::buffer(Epoch first, std::uint32_t n_epochs, std::uint32_t n_hits) {
  EpochBufferHeader header;
  header.source = source_;
  header.first_epoch = first;
  header.n_epochs = n_epochs;
  header.n_hits = n_hits;
  header.hits_before = hits_;
  header.sequence = sequence_++;
  hits_ += n_hits;
  std::vector<std::uint32_t> words(n_hits);
  for (std::uint32_t i = 0; i < n_hits; ++i) words[i] = static_cast<std::uint32_t>(header.sequence * 1000 + i);
  return stored(header, words);
}

Bytes BoardMaker::stored(EpochBufferHeader header, std::span<const std::uint32_t> words) {
  header.n_words = static_cast<std::uint32_t>(words.size());
  Bytes bytes;
  append_stored(header, words, bytes);
  return bytes;
}

Bytes BoardMaker::compose(DatagramHeader header, std::span<const std::byte> contents) const {
  header.source = source_;
  header.session = session_;
  Bytes bytes(sizeof header + contents.size());
  compose_datagram(header, contents, bytes);
  return bytes;
}

std::vector<Bytes> BoardMaker::data(const Bytes& stored, std::uint64_t sequence, std::size_t fragment) const {
  std::vector<Bytes> datagrams;
  DatagramHeader header;
  header.sequence = sequence;
  header.buffer_bytes = static_cast<std::uint32_t>(stored.size());
  for (std::size_t at = 0; at < stored.size(); at += fragment) {
    header.offset = static_cast<std::uint32_t>(at);
    datagrams.push_back(compose(header, std::span(stored).subspan(at, std::min(fragment, stored.size() - at))));
  }
  return datagrams;
}

Bytes BoardMaker::mark(DatagramKind kind, Epoch complete) const { return mark(kind, sequence_, {complete, hits_}); }

Bytes BoardMaker::mark(DatagramKind kind, std::uint64_t sequence, const DatagramMark& mark) const {
  DatagramHeader header;
  header.kind = kind;
  header.sequence = sequence;
  return compose(header, std::as_bytes(std::span(&mark, 1)));
}

Bytes BoardMaker::header(const StreamHeader& header, std::int64_t started_ns) const {
  DatagramHeader of_datagram;
  of_datagram.kind = DatagramKind::header;
  return compose(of_datagram, encode_datagram_stream({started_ns, header}, 1400));
}

std::vector<EpochBufferHeader> headers_in(std::span<const std::byte> buffers) {
  std::vector<EpochBufferHeader> headers;
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    if (!header || header->stored_bytes() > buffers.size() || !words_intact(*header, words_of(*header, buffers))) {
      ADD_FAILURE() << "the data handed over are not whole epoch buffers";
      break;
    }
    headers.push_back(*header);
    buffers = buffers.subspan(header->stored_bytes());
  }
  return headers;
}

std::uint64_t hits_of(const std::vector<Damage>& damage, DropCause cause) {
  std::uint64_t hits = 0;
  for (const auto& one : damage) hits += one.cause == cause ? one.n_hits : 0;
  return hits;
}

}  // namespace eventloom::test
