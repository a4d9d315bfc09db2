#include "io/hdf5/handle.hpp"

#include <hdf5.h>

namespace eventloom {

namespace {

/// Runs before main(), hence before any HDF5 call can fail.
[[maybe_unused]] const herr_t kPrintingOff = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);

herr_t take_description(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 1;  // the first entry is the innermost
}

}  // namespace

void H5Id::reset() noexcept {
  if (id_ >= 0 && close_ != nullptr) close_(id_);
  id_ = H5I_INVALID_HID;
}

std::string hdf5_reason() {
  std::string text = "no reason given";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, &text);
  return text;
}

}  // namespace eventloom
