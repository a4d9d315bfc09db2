#pragma once

#include <H5Ipublic.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace eventloom {

/// Owns an HDF5 id and closes it with the given function; a close that fails is logged. This unit turns off HDF5's own
/// error printing; failures show in results, see check().
class H5Id {
 public:
  using Close = herr_t (*)(hid_t);

  H5Id() = default;
  /// Takes `id` as returned by the call that created it, or a negative one when that call failed.
  H5Id(hid_t id, Close close) : id_(id), close_(close) {}
  ~H5Id() { reset(); }
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    if (this == &other) return *this;
    reset();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    close_ = other.close_;
    return *this;
  }

  [[nodiscard]] hid_t get() const { return id_; }
  /// Closes the object now, if any.
  void reset() noexcept;

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// HDF5's innermost reason for the last failure.
std::string hdf5_reason();

/// Returns the result of an HDF5 call that fails only when the program or the file's structure is wrong. Throws
/// std::runtime_error with `doing` and HDF5's innermost reason when it is negative.
template <class Result>
Result check(Result result, const char* doing) {
  if (result < 0) throw std::runtime_error("HDF5: " + std::string(doing) + ": " + hdf5_reason());
  return result;
}

}  // namespace eventloom
