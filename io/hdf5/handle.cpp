#include "io/hdf5/handle.hpp"

#include <hdf5.h>

#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

/// Runs before main(), hence before any HDF5 call can fail.
[[maybe_unused]] const herr_t kPrintingOff = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);

herr_t take_description(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 1;  // the first entry is the innermost
}

/// A failed close may have lost written data.
void warn_of(H5Id::Close close) noexcept {
  const char* what = close == H5Fclose ? "a file" : close == H5Dclose ? "a dataset" : "an object";
  try {
    log::warn("HDF5: cannot close {}: {}", what, hdf5_reason());
  } catch (...) {  // a destructor may be running: without memory there is no warning
  }
}

}  // namespace

void H5Id::reset() noexcept {
  const hid_t id = std::exchange(id_, H5I_INVALID_HID);
  if (id >= 0 && close_ != nullptr && close_(id) < 0) warn_of(close_);
}

std::string hdf5_reason() {
  std::string text = "no reason given";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, &text);
  return text;
}

}  // namespace eventloom
