#pragma once

namespace eventloom {

/// Raises the number of files that this process may have open to what the system allows it. False when that is no more
/// than before.
bool raise_file_limit();

}  // namespace eventloom
