#include "io/lmd/lmd_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_classic.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kTypeOffset = 4;
constexpr std::uint32_t kFlatType = 0x00010065;     // 101/1
constexpr std::uint32_t kClassicType = 0x000107d0;  // 2000/1

/// Place of a text in a 2000/1 header: a length in the writer's byte order, then characters.
struct TextPlace {
  std::size_t offset;
  std::size_t length;  ///< maximum length
};
constexpr TextPlace kLabel{48, 30};
constexpr TextPlace kFile{80, 86};
constexpr TextPlace kUser{168, 30};
constexpr TextPlace kTime{200, 24};  // characters without a length field
constexpr TextPlace kRun{224, 66};
constexpr TextPlace kExperiment{292, 66};
constexpr std::size_t kLineCount = 360;
constexpr std::size_t kLines = 364;
constexpr std::size_t kLineLength = 78;
constexpr std::size_t kMaxLines = 30;
constexpr std::size_t kTextEnd = kLines + kMaxLines * (kLineLength + 2);

class HeaderText {
 public:
  HeaderText(std::span<const std::byte> bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

  [[nodiscard]] std::string text(TextPlace place) const {
    const std::size_t length = number<std::uint16_t>(place.offset);
    return characters({place.offset + sizeof(std::uint16_t), std::min(length, place.length)});
  }

  [[nodiscard]] std::string characters(TextPlace place) const {
    std::string text;
    for (std::size_t i = place.offset; i < place.offset + place.length && i < bytes_.size(); ++i) {
      const auto c = static_cast<unsigned char>(bytes_[i]);
      if (c == 0) break;
      text += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    const std::size_t n = std::min<std::size_t>(number<std::uint32_t>(kLineCount), kMaxLines);
    for (std::size_t i = 0; i < n; ++i) lines.push_back(text({kLines + i * (kLineLength + 2), kLineLength}));
    return lines;
  }

 private:
  /// Number at `offset`; 0 beyond the end of the header.
  template <class Number>
  [[nodiscard]] Number number(std::size_t offset) const {
    std::array<std::byte, sizeof(Number)> stored{};
    if (offset + sizeof(Number) > bytes_.size()) return 0;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), stored.size(), stored.begin());
    if (swapped_) std::ranges::reverse(stored);
    return std::bit_cast<Number>(stored);
  }

  std::span<const std::byte> bytes_;
  bool swapped_;
};

void read_texts(FileReader& file, LmdFileHeader& header) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(header.bytes, kTextEnd));
  const auto front = file.front(size);
  const HeaderText text(front.first(std::min(front.size(), size)), header.swapped);
  header.label = text.text(kLabel);
  header.file = text.text(kFile);
  header.user = text.text(kUser);
  header.time = text.characters(kTime);
  header.run = text.text(kRun);
  header.experiment = text.text(kExperiment);
  header.lines = text.lines();
}

void read_flat(std::span<const std::byte> words, LmdFileHeader& header) {
  header.flat = load_lmd<LmdFlatHeader>(words);
  // `table` is a 64-bit number, so in the other byte order its two words must also be exchanged.
  if (header.swapped) header.flat.table = std::rotl(header.flat.table, 32);
  header.bytes = kLmdHeaderBytes + 2 * std::uint64_t{header.flat.used};
}

void read_classic(FileReader& file, std::span<const std::byte> words, LmdFileHeader& header) {
  header.buffer = load_lmd<LmdBufferHeader>(words);
  const auto layout = find_lmd_buffers(file, header.buffer, header.swapped);
  header.bytes = layout.header_bytes;
  header.buffer_bytes = layout.buffer_bytes;
  read_texts(file, header);
}

[[noreturn]] void reject(const FileReader& file, const std::string& found) {
  throw UserError("'" + file.path() + "' is not an LMD file: offset 4: expected type 101/1 or 2000/1, found " + found);
}

}  // namespace

bool begins_lmd_file(std::span<const std::byte> head) {
  std::array<std::uint32_t, 2> words{};  // length and type
  if (head.size() < sizeof words) return false;
  std::memcpy(words.data(), head.data(), sizeof words);
  const auto is_type = [](std::uint32_t word) { return word == kFlatType || word == kClassicType; };
  return is_type(words[1]) || is_type(__builtin_bswap32(words[1]));
}

LmdFileHeader read_lmd_header(FileReader& file) {
  const auto front = file.front(kLmdHeaderBytes);
  if (front.size() < kLmdHeaderBytes) reject(file, "a file of " + std::to_string(front.size()) + " bytes");
  std::uint32_t type = 0;
  std::memcpy(&type, front.data() + kTypeOffset, sizeof type);
  LmdFileHeader header;
  header.swapped = type == __builtin_bswap32(kFlatType) || type == __builtin_bswap32(kClassicType);
  if (header.swapped) type = __builtin_bswap32(type);
  header.classic = type == kClassicType;
  if (type != kFlatType && type != kClassicType) {
    reject(file, std::to_string(type & 0xffffU) + "/" + std::to_string(type >> 16));
  }
  std::array<std::byte, kLmdHeaderBytes> words{};
  std::copy_n(front.begin(), words.size(), words.begin());
  if (header.swapped) swap_lmd_words(front.first(words.size()), words.data());
  if (header.classic) {
    read_classic(file, words, header);
  } else {
    read_flat(words, header);
  }
  file.skip(header.bytes);
  return header;
}

}  // namespace eventloom
