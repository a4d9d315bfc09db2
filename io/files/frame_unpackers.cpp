#include "io/files/frame_unpackers.hpp"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <new>

namespace eventloom {

namespace {

class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() {
    constexpr int kGzipAlone = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipAlone) != Z_OK) throw std::bad_alloc();
  }
  ~GzipUnpacker() override { inflateEnd(&stream_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    constexpr std::size_t kMostPiece = std::numeric_limits<uInt>::max();
    in = in.first(std::min(in.size(), kMostPiece));
    out = out.first(std::min(out.size(), kMostPiece));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    Step done{.taken = in.size() - stream_.avail_in, .given = out.size() - stream_.avail_out};
    if (result == Z_STREAM_END) {
      done.whole = true;
      inflateReset(&stream_);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      done.defect = stream_.msg == nullptr ? "invalid data" : stream_.msg;
    }
    return done;
  }

 private:
  z_stream stream_{};
};

/// Accepts every window of the format, also those of `zstd --long=31`. A frame takes the memory of the window it
/// states.
class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() {
    if (stream_ == nullptr) throw std::bad_alloc();
    const auto widest = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, widest);
  }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const auto result = ZSTD_decompressStream(stream_.get(), &output, &input);
    Step done{.taken = input.pos, .given = output.pos, .whole = result == 0};
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
      done.defect = "there is not enough memory for the window of its frame (zstd --long); compress it without --long";
    } else if (ZSTD_isError(result) != 0) {
      done.defect = ZSTD_getErrorName(result);
    }
    return done;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
};

class Lz4Unpacker final : public Unpacker {
 public:
  Lz4Unpacker() {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) throw std::bad_alloc();
    context_.reset(context);
  }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    std::size_t taken = in.size();
    std::size_t given = out.size();
    const auto result = LZ4F_decompress(context_.get(), out.data(), &given, in.data(), &taken, nullptr);
    Step done{.taken = taken, .given = given, .whole = result == 0};
    if (LZ4F_isError(result) != 0) done.defect = LZ4F_getErrorName(result);
    return done;
  }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
  };
  std::unique_ptr<LZ4F_dctx, Free> context_;
};

}  // namespace

std::unique_ptr<Unpacker> make_frame_unpacker(FrameKind kind) {
  if (kind == FrameKind::gzip) return std::make_unique<GzipUnpacker>();
  if (kind == FrameKind::zstd) return std::make_unique<ZstdUnpacker>();
  return std::make_unique<Lz4Unpacker>();
}

}  // namespace eventloom
