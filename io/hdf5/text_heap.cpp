#include "io/hdf5/text_heap.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>

#include "core/runtime/format.hpp"
#include "io/hdf5/file_bytes.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

namespace {

/// Reference to a text: u32 length in bytes, u64 offset of its heap, u32 number of its object in the heap.
constexpr std::size_t kReferenceBytes = 16;
/// Header of a heap: signature, u64 size in bytes. Header of an object: u16 number, 6 unused bytes, u64 size in bytes.
constexpr std::size_t kHeaderBytes = 16;
/// Minimum size of a heap.
constexpr std::size_t kLeastBytes = 4096;
/// Includes the version, 1.
constexpr std::string_view kSignature("GCOL\1\0\0\0", 8);

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Makes HDF5 return the stored references to texts, for which it has no type.
herr_t leave_as_stored(hid_t from, hid_t to, H5T_cdata_t* conversion, std::size_t, std::size_t, std::size_t, void*,
                       void*, hid_t) {
  if (conversion->command != H5T_CONV_INIT) return 0;
  return H5Tis_variable_str(from) > 0 && H5Tget_size(from) == H5Tget_size(to) ? 0 : -1;
}

hid_t make_reference_type() {
  const hid_t type = check(H5Tcreate(H5T_OPAQUE, kReferenceBytes), "creating a type");
  const H5Id text(check(H5Tcopy(H5T_C_S1), "copying a type"), H5Tclose);
  check(H5Tset_size(text.get(), H5T_VARIABLE), "setting the length of a text");
  check(H5Tregister(H5T_PERS_SOFT, "stored texts", text.get(), type, leave_as_stored), "registering a conversion");
  return type;
}

struct TextReference {
  std::uint32_t bytes = 0;
  std::uint64_t heap = 0;
  std::uint32_t object = 0;
};

std::vector<TextReference> read_references(hid_t attribute, std::size_t n) {
  static const hid_t type = make_reference_type();
  std::vector<std::byte> stored(n * kReferenceBytes);
  check(H5Aread(attribute, type, stored.data()), "reading where the texts are");
  std::vector<TextReference> references;
  for (std::size_t at = 0; at < stored.size(); at += kReferenceBytes) {
    references.push_back(
        {load<std::uint32_t>(stored, at), load<std::uint64_t>(stored, at + 4), load<std::uint32_t>(stored, at + 12)});
  }
  return references;
}

/// Size of the user block, after which offsets in an HDF5 file start.
std::uint64_t user_bytes(hid_t file) {
  const H5Id creation(check(H5Fget_create_plist(file), "asking for the layout of a file"), H5Pclose);
  hsize_t bytes = 0;
  check(H5Pget_userblock(creation.get(), &bytes), "asking for the layout of a file");
  return bytes;
}

/// A global heap: a header, then objects, each a header and a text. It ends at its size or at object 0, which is free
/// space.
class GlobalHeap {
 public:
  /// `begin` is its offset in the file.
  GlobalHeap(const FileBytes& file, std::uint64_t begin) : file_(file), begin_(begin) {
    const auto header = header_at(0);
    if (std::memcmp(header.data(), kSignature.data(), kSignature.size()) != 0) fail("the signature is missing");
    bytes_ = load<std::uint64_t>(header, 8);
    if (bytes_ < kLeastBytes)
      fail(fmt::format("the header states {} bytes, at least {} expected", bytes_, kLeastBytes));
    find_objects();
  }

  [[nodiscard]] std::string text(const TextReference& reference) const {
    const auto object = objects_.find(reference.object);
    if (object == objects_.end()) fail(fmt::format("text {} is missing", reference.object));
    const auto [at, bytes] = object->second;
    if (bytes != reference.bytes) {
      fail(fmt::format("text {} states {} bytes, {} expected", reference.object, bytes, reference.bytes));
    }
    std::string text(bytes, '\0');
    read(at, std::as_writable_bytes(std::span(text)));
    return text.substr(0, text.find('\0'));
  }

 private:
  struct Object {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };

  void find_objects() {
    for (std::uint64_t at = kHeaderBytes; bytes_ - at >= kHeaderBytes;) {
      const auto header = header_at(at);
      const auto number = load<std::uint16_t>(header, 0);
      const auto bytes = load<std::uint64_t>(header, 8);
      const auto room = bytes_ - at - kHeaderBytes;
      if (number == 0 && bytes != bytes_ - at) fail(fmt::format("{} bytes are free, {} expected", bytes, bytes_ - at));
      if (number == 0) return;
      if (bytes > room) fail(fmt::format("text {} states {} bytes, at most {} expected", number, bytes, room));
      if (!objects_.try_emplace(number, Object{at + kHeaderBytes, bytes}).second) {
        fail(fmt::format("text {} occurs twice", number));
      }
      at += kHeaderBytes + std::min(room, (bytes + 7) / 8 * 8);
    }
  }

  /// Valid until the next call.
  std::span<const std::byte> header_at(std::uint64_t at) {
    if (at < block_at_ || at + kHeaderBytes > block_at_ + block_.size()) {
      block_.resize(std::min<std::uint64_t>(bytes_ - at, kLeastBytes));
      block_at_ = at;
      read(at, block_);
    }
    return std::span(block_).subspan(at - block_at_, kHeaderBytes);
  }

  void read(std::uint64_t at, std::span<std::byte> bytes) const {
    if (const auto reason = file_.read(begin_ + at, bytes); !reason.empty()) fail(reason);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(
        fmt::format("the texts of its attributes cannot be read: in the heap at offset {}, {}", begin_, what));
  }

  const FileBytes& file_;
  std::uint64_t begin_;
  std::uint64_t bytes_ = kLeastBytes;  ///< replaced by the size in the header
  std::vector<std::byte> block_;       ///< the block of the heap read last
  std::uint64_t block_at_ = 0;
  std::map<std::uint32_t, Object> objects_;
};

}  // namespace

std::vector<std::string> read_heap_texts(hid_t attribute, std::size_t n) {
  std::vector<std::string> texts;
  if (n == 0) return texts;
  const H5Id file(check(H5Iget_file_id(attribute), "asking for the file of an attribute"), H5Fclose);
  const FileBytes bytes(file.get());
  const auto base = user_bytes(file.get());
  std::map<std::uint64_t, GlobalHeap> heaps;
  for (const auto& reference : read_references(attribute, n)) {
    if (reference.bytes == 0 || reference.heap == 0) {  // empty or never written
      texts.emplace_back();
      continue;
    }
    const auto heap = heaps.try_emplace(reference.heap, bytes, base + reference.heap).first;
    texts.push_back(heap->second.text(reference));
  }
  return texts;
}

}  // namespace eventloom
