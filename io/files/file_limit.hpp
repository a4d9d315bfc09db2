#pragma once

namespace eventloom {

/// Raises the process's limit of open files to the maximum that the system allows. Returns false if the limit cannot be
/// raised.
bool raise_file_limit();

}  // namespace eventloom
